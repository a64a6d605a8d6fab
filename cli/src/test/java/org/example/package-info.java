/** What somebody else wrote: nothing of ours knows it, and it is found by name. */
package org.example;
