package chain

// TabardWebhook is the name of Tabard's Deployment behind the hook that is asked about the identity of new
// pods, and its namespace. Both are empty where the hook is not known, or is somebody else's.
func TabardWebhook(e Evidence) (namespace, name string) {
	if e.Hooks.Unread != "" || e.Hooks.Value == nil {
		return "", ""
	}
	for _, hook := range candidates(*e.Hooks.Value) {
		if hook.Configuration != tabards || hook.Service == "" {
			return "", ""
		}
		namespace, name = hook.Namespace, tabards
	}
	return namespace, name
}
