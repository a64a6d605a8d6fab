package dev.espalier.train.journal;

/**
 * Where a run came from: what it takes to know whether two runs can be expected to agree.
 *
 * @param espalier version of this program
 * @param commit that of the checkout that the program lies in, or else the one that it was built from, with {@code -dirty} if there
 *     were changes; {@code unknown} if it was built outside a checkout
 * @param started when, in UTC
 * @param seed what all that is random depends on
 * @param java version and vendor of the JVM
 * @param system name and version of the operating system
 * @param architecture of the processor
 * @param processors how many of them the JVM sees
 * @param engine what computes gradients, and its number of threads
 * @param kernel what the optimizer's steps run on
 * @param device where the model is
 */
public record Provenance(
        String espalier,
        String commit,
        String started,
        long seed,
        String java,
        String system,
        String architecture,
        int processors,
        String engine,
        String kernel,
        String device) {

    /**
     * The same with another kernel: what steps run on is known last.
     *
     * @param other what the optimizer's steps run on
     * @return the provenance
     */
    public Provenance withKernel(String other) {
        return new Provenance(
                espalier, commit, started, seed, java, system, architecture, processors, engine, other, device);
    }
}
