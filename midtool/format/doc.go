// Package format writes and reads corpora in the forms that trainers take.
package format
