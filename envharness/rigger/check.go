package rigger

// Check reports what [Rig] would refuse before it does anything: the faults of the problem and of the options, joined. Nil options are the
// defaults. Nothing is opened or played. It is for procedures that pay rollouts of their own before they rig.
func (o *Options) Check(p Problem) error {
	_, err := settle(p, o)
	return err
}
