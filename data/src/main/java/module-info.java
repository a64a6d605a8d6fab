import dev.espalier.data.DataKind;
import dev.espalier.data.OwnData;
import dev.espalier.data.array.NpyKind;
import dev.espalier.data.array.RandomKind;
import dev.espalier.data.image.Cifar10Kind;
import dev.espalier.data.image.DigitsKind;
import dev.espalier.data.image.FashionMnistKind;
import dev.espalier.data.image.ImagesKind;
import dev.espalier.data.image.MnistKind;
import dev.espalier.data.table.CellFormat;
import dev.espalier.data.table.CsvKind;

/** Data sets of typed columns, how they are split and encoded, batches of them, and the kinds of data that come along. */
module dev.espalier.data {
    requires static transitive org.jspecify;
    requires transitive dev.espalier.graph;
    requires transitive dev.espalier.settings;
    requires com.fasterxml.jackson.databind;
    requires de.siegmar.fastcsv;
    requires java.desktop;
    requires java.net.http;
    requires org.apache.commons.compress;

    exports dev.espalier.data;
    exports dev.espalier.data.table;

    uses DataKind;
    uses CellFormat;

    provides DataKind with
            DigitsKind,
            Cifar10Kind,
            MnistKind,
            FashionMnistKind,
            ImagesKind,
            CsvKind,
            NpyKind,
            OwnData,
            RandomKind;
}
