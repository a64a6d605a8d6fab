/** The CUDA driver and its run-time compiler, called without JNI. Knows nothing of training. */
@NullMarked
package dev.espalier.cuda.driver;

import org.jspecify.annotations.NullMarked;
