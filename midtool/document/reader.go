package document

import "context"

// A Reader makes a document of a file. Name is its path with slashes; data is the whole content and must not be changed. A
// [*Fault], or another error with a method Reason() string, is about this file alone: it is rejected with that reason. Any other
// error ends the sequence. [Tree] sets ID, Origin and License, and makes the text clean (see [Tree]) and free of secrets. It calls
// one Reader from several goroutines if it is itself used so.
type Reader func(ctx context.Context, name string, data []byte) (Document, error)
