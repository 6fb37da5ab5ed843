export interface Right { verb: string; resource: string; group: string; name?: string; namespace?: string }

// rightOf reads the words in which the API server says a right that somebody lacks:
// cannot list resource "subscriptions" in API group "operators.coreos.com" in the namespace "olm".
export function rightOf(words: string): Right | undefined {
  const match = /cannot (\w+) resource "([^"]+)" in API group "([^"]*)"(?: in the namespace "([^"]+)")?/.exec(words)
  const [, verb, resource, group = '', namespace] = match ?? []
  if (!verb || !resource) return undefined
  return { verb, resource, group, namespace, name: /\S+ "([^"]+)" is forbidden/.exec(words)?.[1] }
}

// roleOf is what an administrator applies so that somebody has the right.
export function roleOf({ verb, resource, group, name, namespace }: Right): string {
  return [
    'apiVersion: rbac.authorization.k8s.io/v1',
    `kind: ${namespace ? 'Role' : 'ClusterRole'}`,
    'metadata:',
    '  name: tabard-console-reader',
    ...namespace ? [`  namespace: ${namespace}`] : [],
    'rules:',
    `- apiGroups: ["${group}"]`,
    `  resources: ["${resource}"]`,
    ...name ? [`  resourceNames: ["${name}"]`] : [],
    `  verbs: ["${verb}"]`,
  ].join('\n')
}
