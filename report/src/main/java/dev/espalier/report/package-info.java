/** What runs did, to look at: pages that hold all they need and open without a network. */
@NullMarked
package dev.espalier.report;

import org.jspecify.annotations.NullMarked;
