// Package decontaminate finds the items of benchmarks in a corpus.
package decontaminate
