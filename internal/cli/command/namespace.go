package command

// Namespace is Tabard's own, where no flag names another.
const Namespace = "tabard-system"
