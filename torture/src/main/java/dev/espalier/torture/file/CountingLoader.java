package dev.espalier.torture.file;

import java.io.IOException;
import java.io.InputStream;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassHierarchyResolver;
import java.lang.classfile.ClassModel;
import java.lang.classfile.ClassTransform;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.CodeElement;
import java.lang.classfile.CodeModel;
import java.lang.classfile.CodeTransform;
import java.lang.classfile.Label;
import java.lang.classfile.MethodModel;
import java.lang.classfile.MethodTransform;
import java.lang.classfile.Opcode;
import java.lang.classfile.instruction.BranchInstruction;
import java.lang.classfile.instruction.ExceptionCatch;
import java.lang.classfile.instruction.LabelTarget;
import java.lang.classfile.instruction.LookupSwitchInstruction;
import java.lang.classfile.instruction.TableSwitchInstruction;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Loads Espalier's classes anew, with a counter wherever a method can turn: at its start, on both sides of a condition, in every
 * case of a switch and every handler. What a file makes its reader do can be seen in the counters.
 *
 * <p>A job has a loader, and so counters, of its own: jobs do not disturb each other. A turn has the same counter in all of them.
 */
final class CountingLoader extends ClassLoader {
    private static final String OURS = "dev.espalier.";
    private static final String CAMPAIGNS = "dev.espalier.torture.";
    private static final String TARGETS = "dev.espalier.torture.file.reader.";
    private static final String HITS = Hits.class.getName();
    private static final ClassDesc HITS_TYPE = ClassDesc.of(HITS);
    private static final ClassDesc COUNTS_TYPE = ConstantDescs.CD_byte.arrayType();
    /** Spreads the turns of all methods over the counters. */
    private static final int SPREAD = 0x9E3779B9;

    CountingLoader(ClassLoader parent) {
        super("counting", parent);
    }

    /** The counters of the classes that this loader has loaded. */
    byte[] hits() {
        try {
            return (byte[]) loadClass(HITS).getField("COUNTS").get(null);
        } catch (ReflectiveOperationException impossible) {
            throw new LinkageError("the counters cannot be read", impossible);
        }
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        boolean counted = name.startsWith(OURS) && !name.startsWith(CAMPAIGNS);
        if (!counted && !name.startsWith(TARGETS) && !name.equals(HITS)) {
            return super.loadClass(name, resolve);
        }
        synchronized (getClassLoadingLock(name)) {
            Class<?> known = findLoadedClass(name);
            if (known != null) {
                return known;
            }
            byte[] plain = bytes(name);
            byte[] defined = counted ? count(name, plain) : plain;
            return defineClass(name, defined, 0, defined.length);
        }
    }

    private byte[] bytes(String name) throws ClassNotFoundException {
        try (InputStream in = getParent().getResourceAsStream(name.replace('.', '/') + ".class")) {
            if (in == null) {
                throw new ClassNotFoundException(name);
            }
            return in.readAllBytes();
        } catch (IOException unreadable) {
            throw new ClassNotFoundException(name, unreadable);
        }
    }

    private byte[] count(String name, byte[] plain) {
        ClassFile format = ClassFile.of(ClassFile.ClassHierarchyResolverOption.of(
                ClassHierarchyResolver.ofResourceParsing(getParent()).cached()));
        ClassModel model = format.parse(plain);
        AtomicInteger turns = new AtomicInteger(name.hashCode());
        ClassTransform counting = (builder, element) -> {
            if (element instanceof MethodModel method && method.code().isPresent()) {
                Set<Label> targets = targets(method.code().get());
                builder.transformMethod(method, MethodTransform.transformingCode(new Counting(targets, turns)));
            } else {
                builder.with(element);
            }
        };
        return format.transformClass(model, counting);
    }

    /** Where something jumps to. */
    private static Set<Label> targets(CodeModel code) {
        Set<Label> targets = new HashSet<>();
        for (CodeElement element : code) {
            switch (element) {
                case BranchInstruction branch -> targets.add(branch.target());
                case LookupSwitchInstruction choice -> {
                    targets.add(choice.defaultTarget());
                    choice.cases().forEach(one -> targets.add(one.target()));
                }
                case TableSwitchInstruction choice -> {
                    targets.add(choice.defaultTarget());
                    choice.cases().forEach(one -> targets.add(one.target()));
                }
                case ExceptionCatch handler -> targets.add(handler.handler());
                default -> {}
            }
        }
        return targets;
    }

    /** Adds to counters: at the start, where something jumps to, and behind a condition that does not jump. */
    private record Counting(Set<Label> targets, AtomicInteger turns) implements CodeTransform {
        @Override
        public void atStart(CodeBuilder builder) {
            add(builder);
        }

        @Override
        public void accept(CodeBuilder builder, CodeElement element) {
            builder.with(element);
            switch (element) {
                case LabelTarget target when targets.contains(target.label()) -> add(builder);
                case BranchInstruction branch
                when branch.opcode() != Opcode.GOTO && branch.opcode() != Opcode.GOTO_W -> add(builder);
                default -> {}
            }
        }

        private void add(CodeBuilder builder) {
            int mixed = turns.getAndIncrement() * SPREAD;
            builder.getstatic(HITS_TYPE, "COUNTS", COUNTS_TYPE)
                    .loadConstant((mixed ^ (mixed >>> 15)) & (Hits.SIZE - 1))
                    .dup2()
                    .baload()
                    .iconst_1()
                    .iadd()
                    .i2b()
                    .bastore();
        }
    }
}
