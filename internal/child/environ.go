package child

import "os"

// Environ returns the variables that a program gets without any of its own: those of this process that programs need to run, and
// none that may hold a secret. On Unix these are HOME, LANG, LC_ALL, LC_CTYPE, LOGNAME, PATH, SHELL, TERM, TMPDIR, TZ and USER; on Windows
// those that name system folders, the user and the machine. What is not set is left out.
func Environ() []string {
	var env []string
	for _, name := range inherited {
		if v, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	if env == nil {
		env = []string{} // nil would mean all of them to exec
	}
	return env
}
