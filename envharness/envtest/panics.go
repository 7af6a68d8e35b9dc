package envtest

import (
	"fmt"
	"path"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
)

// panicked describes what a deferred function recovered, with the places where it came from, on one line.
func panicked(p any) error {
	return fmt.Errorf("panic: %v, at %s", p, strings.Join(places(), ", called at "))
}

// places returns the innermost few calls that led to the panic which is being recovered: those outside of the kit, up to where the kit made
// them, or those of the kit if it panicked itself. Calls inside the runtime are left out.
func places() []string {
	const most = 3
	kit := reflect.TypeFor[Rule]().PkgPath() + "."
	var pcs [64]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(1, pcs[:])])
	var out []string
	ours := false // the calls listed are the kit's
	for panicking, more := false, true; more && len(out) < most; {
		var f runtime.Frame
		f, more = frames.Next()
		if strings.HasPrefix(f.Function, "runtime.") || strings.HasPrefix(f.Function, "internal/runtime/") {
			panicking = panicking || f.Function == "runtime.gopanic"
			continue
		}
		if !panicking {
			continue // the deferred function
		}
		inKit := strings.HasPrefix(f.Function, kit)
		if len(out) > 0 && inKit != ours {
			break
		}
		ours = inKit
		out = append(out, fmt.Sprintf("%s (%s:%d)", path.Base(f.Function), filepath.Base(f.File), f.Line))
	}
	return out
}
