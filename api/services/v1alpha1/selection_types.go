package v1alpha1

// Selection bounds the choice between selectors that select the same resource.
//
// +kubebuilder:validation:XValidation:rule="(has(self.mode) && self.mode == 'Selectable') || !(has(self.choosers) || (has(self.default) && self.default) || (has(self.requireChoice) && self.requireChoice))",message="default, requireChoice and choosers need mode Selectable: nobody chooses an exclusive selector",fieldPath=".mode"
// +kubebuilder:validation:XValidation:rule="!(has(self.default) && self.default && has(self.requireChoice) && self.requireChoice)",message="default and requireChoice exclude each other: one is for those who have not chosen, the other never is",fieldPath=".requireChoice"
type Selection struct {
	// Mode is Exclusive, the default: any other selector of the same resource is
	// a conflict; or Selectable: a choice may decide.
	//
	// +optional
	Mode SelectionMode `json:"mode,omitempty"`
	// Default is used among selectable ones when nobody has chosen.
	//
	// +optional
	Default bool `json:"default,omitempty"`
	// RequireChoice is used only when it is chosen.
	//
	// +optional
	RequireChoice bool `json:"requireChoice,omitempty"`
	// Choosers are the ways in which this selector may be chosen; left out, it is
	// NamespaceChoice alone.
	//
	// +optional
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=2
	Choosers []Chooser `json:"choosers,omitempty"`
}

// SelectionMode is how a selector stands beside others.
//
// +kubebuilder:validation:Enum=Exclusive;Selectable
type SelectionMode string

// The modes.
const (
	// Exclusive selectors stand alone. It is the default.
	Exclusive SelectionMode = "Exclusive"
	// Selectable selectors may overlap with other selectable ones.
	Selectable SelectionMode = "Selectable"
)

// Chooser is a way in which a namespace's people choose.
//
// +kubebuilder:validation:Enum=NamespaceChoice;ResourceAnnotation
type Chooser string

// The choosers.
const (
	// NamespaceChoice is an IAMRoleChoice in the resource's namespace.
	NamespaceChoice Chooser = "NamespaceChoice"
	// ResourceAnnotation is ChoiceAnnotation on the resource.
	ResourceAnnotation Chooser = "ResourceAnnotation"
)

// ChoiceAnnotation is the annotation of a resource that names the IAMRoleSelector to use.
const ChoiceAnnotation = "services.k8s.aws/iam-role-selector"
