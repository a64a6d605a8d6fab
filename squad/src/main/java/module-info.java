import dev.espalier.data.DataKind;
import dev.espalier.data.table.CellFormat;
import dev.espalier.squad.AnsweringKind;
import dev.espalier.squad.SquadData;
import dev.espalier.squad.SquadTexts;
import dev.espalier.train.task.TaskKind;

/** Questions on texts: SQuAD 1.1 as data, and answering as a task. */
module dev.espalier.squad {
    requires static transitive org.jspecify;
    requires transitive dev.espalier.text;
    requires transitive dev.espalier.train;

    exports dev.espalier.squad;

    provides DataKind with
            SquadData;
    provides CellFormat with
            SquadTexts;
    provides TaskKind with
            AnsweringKind;
}
