// Package listing is what is shown of a catalogue of operators: the row of a package and the filters
// that a person has, all that is known of one package, and the findings about it. The command line
// and the web console show the same, because both take it from here.
//
// What cannot be known of a package is unknown, and counted: it is never shown as a "no".
package listing
