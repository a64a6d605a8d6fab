import dev.espalier.train.model.BertModel;
import dev.espalier.train.model.MlpModel;
import dev.espalier.train.model.ModelKind;
import dev.espalier.train.model.OnnxModel;
import dev.espalier.train.model.OwnModel;
import dev.espalier.train.model.ResNet34Model;
import dev.espalier.train.model.SmallCnnModel;
import dev.espalier.train.model.Vgg16Model;
import dev.espalier.train.study.LauncherProvider;
import dev.espalier.train.study.Storage;
import dev.espalier.train.task.AutoTask;
import dev.espalier.train.task.ClassificationKind;
import dev.espalier.train.task.ImitationKind;
import dev.espalier.train.task.Regression;
import dev.espalier.train.task.TaskKind;

/** Recipes, tasks, what runs a training, and the front door {@link dev.espalier.train.Espalier}. */
@SuppressWarnings({
    "module", // the modules that walled packages are exported to come after this one
    "requires-automatic" // its manifest names the module
})
module dev.espalier.train {
    requires static transitive org.jspecify;
    requires transitive dev.espalier.data;
    requires transitive dev.espalier.engine;
    requires transitive dev.espalier.runtime;
    requires com.fasterxml.jackson.databind;
    requires com.google.protobuf;

    exports dev.espalier.train;
    exports dev.espalier.train.inputs;
    exports dev.espalier.train.journal;
    exports dev.espalier.train.model;
    exports dev.espalier.train.recipe;
    exports dev.espalier.train.run;
    exports dev.espalier.train.study;
    exports dev.espalier.train.task;

    uses LauncherProvider;
    uses ModelKind;
    uses Storage.Provider;
    uses TaskKind;

    provides ModelKind with
            Vgg16Model,
            ResNet34Model,
            SmallCnnModel,
            MlpModel,
            BertModel,
            OnnxModel,
            OwnModel;
    provides TaskKind with
            AutoTask,
            ClassificationKind,
            ImitationKind,
            Regression.Kind;
}
