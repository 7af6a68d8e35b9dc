// Package endpoint gives the example programs their flags for a model behind an OpenAI-compatible endpoint.
package endpoint
