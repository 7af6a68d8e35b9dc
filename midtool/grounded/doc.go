// Package grounded makes questions, answers and conversations that are grounded in documents.
package grounded
