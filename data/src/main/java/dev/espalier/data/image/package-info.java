/** Kinds of data that are images with one label each, and what reads their files. */
@NullMarked
package dev.espalier.data.image;

import org.jspecify.annotations.NullMarked;
