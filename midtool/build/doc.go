// Package build makes a corpus out of documents and tools, in shards that a stopped run takes up again.
package build
