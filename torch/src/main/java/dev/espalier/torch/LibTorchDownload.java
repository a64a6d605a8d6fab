package dev.espalier.torch;

import ai.djl.pytorch.jni.LibUtils;
import java.io.IOException;
import java.net.URL;
import java.util.Collections;
import java.util.Enumeration;

/** Has DJL fetch a libtorch although there is one on the class path. */
final class LibTorchDownload {
    /** What DJL knows the libtorch on the class path by. */
    private static final String BUNDLED = "native/lib/pytorch.properties";

    private LibTorchDownload() {}

    static void run() {
        Thread thread = Thread.currentThread();
        ClassLoader before = thread.getContextClassLoader();
        thread.setContextClassLoader(new WithoutBundled(LibTorchDownload.class.getClassLoader()));
        try {
            LibUtils.loadLibrary();
        } finally {
            thread.setContextClassLoader(before);
        }
    }

    /** A class path without libtorch. */
    private static final class WithoutBundled extends ClassLoader {
        WithoutBundled(ClassLoader parent) {
            super(parent);
        }

        @Override
        public Enumeration<URL> getResources(String name) throws IOException {
            return name.equals(BUNDLED) ? Collections.emptyEnumeration() : super.getResources(name);
        }
    }
}
