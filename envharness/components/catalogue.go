package components

import (
	"encoding/json"
	"errors"

	"github.com/throughline-go/throughline/envharness"
)

const chainTag = "chain"

// Catalogue returns a new registry with the components of this package, [envharness.Setup] and the chain, which [Registry.Kinds] lists in
// the order of the package comment. It has no worlds; see [Registry.AddWorld].
func Catalogue() *Registry {
	return &Registry{kinds: []Kind{
		startReplayKind(),
		startPatchKind(),
		blockKind(),
		renameKind(),
		stickyKind(),
		toolFailKind(),
		toolDownKind(),
		corruptReadKind(),
		rateLimitKind(),
		permissionKind(),
		staleReadKind(),
		paginateKind(),
		obsNoiseKind(),
		obsDelayKind(),
		hideKeysKind(),
		distractorKind(),
		stepBudgetKind(),
		callCapKind(),
		submitGateKind(),
		orderLockKind(),
		chainKind(),
		schemaDriftKind(),
	}}
}

func startReplayKind() Kind {
	return Kind{
		Tag:       "start_replay",
		Version:   1,
		Axis:      envharness.AxisStart,
		Direction: Harder | Easier,
		About:     "replays actions before the first turn",
		Sound:     "Every action is carried out, none ends or solves the episode, and the counters can be rewound; the reset checks it.",
		Schema: json.RawMessage(`{"type":"object","additionalProperties":false,"properties":{
"actions":{"type":"array","items":{"type":"object","additionalProperties":false,"required":["name"],
"properties":{"name":{"type":"string"},"args":{"type":"object"}}}},
"aid":{"type":"boolean"}}}`),
		New: build[envharness.Setup],
	}
}

// chainKind describes the parameters of a chain, which is a world of a [Spec] and no component.
func chainKind() Kind {
	return Kind{
		Tag:       chainTag,
		Version:   1,
		Axis:      envharness.AxisLink,
		Direction: Harder,
		About:     "plays worlds one after the other",
		Sound:     "Each leg is sound by itself, and the limit on turns leaves room for all of them.",
		Schema: json.RawMessage(`{"type":"object","additionalProperties":false,"properties":{
"until_end":{"type":"boolean"},"stop_on_fail":{"type":"boolean"},"carry":{"type":"integer","minimum":0},
"no_context":{"type":"boolean"},"max_turns":{"type":"integer","minimum":0}}}`),
		New: func(json.RawMessage) (envharness.Component, error) {
			return nil, errors.New("a chain is a world: it stands in the env of a specification")
		},
	}
}
