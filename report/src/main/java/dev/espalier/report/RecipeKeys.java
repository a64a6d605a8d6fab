package dev.espalier.report;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.SequencedSet;

/** The keys of a recipe as run, which has one on each line. Good enough to show what differs, not to train with. */
final class RecipeKeys {
    private RecipeKeys() {}

    static SequencedMap<String, String> of(String toml) {
        SequencedMap<String, String> keys = new LinkedHashMap<>();
        String section = "";
        for (String line : toml.lines().map(String::strip).toList()) {
            int equals = line.indexOf('=');
            if (line.startsWith("[") && line.endsWith("]")) {
                section = line.substring(1, line.length() - 1) + ".";
            } else if (!line.startsWith("#") && equals > 0) {
                keys.put(
                        section + line.substring(0, equals).strip(),
                        line.substring(equals + 1).strip());
            }
        }
        return keys;
    }

    /** The keys in which runs differ; nothing if they do not, or if a run has no recipe. */
    static Html differences(List<RunData> runs) {
        List<SequencedMap<String, String>> recipes =
                runs.stream().map(run -> of(run.recipe())).toList();
        SequencedSet<String> names = new LinkedHashSet<>();
        recipes.forEach(recipe -> names.addAll(recipe.keySet()));
        List<String> columns = new ArrayList<>(List.of("Key"));
        runs.forEach(run -> columns.add(run.name()));
        Table table = Table.of("Keys in which the recipes differ", columns);
        for (String name : names) {
            List<String> values = recipes.stream()
                    .map(recipe -> recipe.getOrDefault(name, Numbers.NONE))
                    .toList();
            if (values.stream().distinct().count() > 1) {
                table.row(Html.of("<code>{}</code>", name), values);
            }
        }
        boolean known = recipes.stream().noneMatch(Map::isEmpty);
        return known && !table.isEmpty() ? table.toHtml() : Html.EMPTY;
    }
}
