/** Data of somebody else: it knows the public types of others only. */
@NullMarked
package org.example.sines;

import org.jspecify.annotations.NullMarked;
