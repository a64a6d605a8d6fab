/** Text files of typed settings: keys that know their type, range, default and meaning, and kinds that own their keys. */
@SuppressWarnings("requires-automatic") // its manifest names the module
module dev.espalier.settings {
    requires static transitive org.jspecify;
    requires org.tomlj;

    exports dev.espalier.settings;
}
