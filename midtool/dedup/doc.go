// Package dedup finds texts that repeat one another, word for word or nearly so.
package dedup
