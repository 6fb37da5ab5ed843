import type { PodRow } from '../api/types'
import type { ListOf } from '../lists/query'
import { count } from '../states/words'

export const podsList: ListOf = { path: 'workloads/pods', filters: ['namespace', 'standing'] }
export const accountsList: ListOf = { path: 'workloads/serviceaccounts', filters: ['namespace', 'standing'] }

export type Kind = 'pods' | 'serviceaccounts'

export const kindNames: Record<Kind, string> = { pods: 'Pods', serviceaccounts: 'ServiceAccounts' }

// titleOf is how the page of a pod or a ServiceAccount is called.
export function titleOf(kind: Kind, ns: string, name: string): string {
  return `${kind === 'pods' ? 'Pod' : 'ServiceAccount'} ${ns}/${name}`
}

// pathOf is the page of a pod or a ServiceAccount.
export function pathOf(kind: Kind, { namespace, name }: { namespace: string; name: string }): string {
  return `/workloads/${kind}/${encodeURIComponent(namespace)}/${encodeURIComponent(name)}`
}

// listPathOf is the page of the list. Pods are its first tab.
export function listPathOf(kind: Kind): string {
  return kind === 'pods' ? '/workloads' : `/workloads?tab=${kind}`
}

// The server's words for its filter, so that one word stands for one state.
const standings: Record<string, string> = {
  given: 'Has its role', without: 'Without its role', nobody: 'No role asked for', unknown: 'Not known',
}

export function standingInWords(standing: string): string {
  return standings[standing] ?? standing
}

// otherRole is the role that a pod has in place of the one that it is to have.
export function otherRole({ role, has }: Pick<PodRow, 'role' | 'has'>): string | undefined {
  return has && has !== role ? has : undefined
}

export function podsInWords({ pods, without, podsUnknown }: { pods: number; without: number; podsUnknown?: string }): string {
  if (podsUnknown) return 'Not known'
  return without > 0 ? `${pods.toLocaleString('en')}, ${without.toLocaleString('en')} without` : pods.toLocaleString('en')
}

interface Counted { matching: number; total: number; partly: string[] }

export function matchingInWords(kind: Kind, { matching, total, partly }: Counted): string {
  const things = kind === 'pods' ? count(total, 'pod', 'pods') : count(total, 'ServiceAccount', 'ServiceAccounts')
  return `${matching.toLocaleString('en')} of ${things}${partly.length > 0 ? ' of what could be read' : ''}`
}
