const verdicts: Record<string, string> = {
  NoChange: 'Nothing changes in what it asks for',
  Satisfied: 'The role is enough',
  NotToken: 'It takes no role',
  Missing: 'The role is not enough',
  Unknown: 'It is not known whether the role is enough',
  Overridden: 'The risk was taken',
}

export function verdictInWords(verdict: string): string {
  return verdicts[verdict] ?? verdict
}

const variants: Record<string, 'success' | 'info' | 'danger' | 'warning'> = {
  NoChange: 'success', Satisfied: 'success', NotToken: 'info', Missing: 'danger',
}

export function verdictVariant(verdict: string) {
  return variants[verdict] ?? 'warning'
}

const results: Record<string, string> = {
  granted: 'Granted',
  denied: 'Denied',
  missing: 'Missing',
  partly: 'Granted in part',
  conditional: 'Granted on a condition',
  undecided: 'Not known',
  trusted: 'Trusted',
  notTrusted: 'Not trusted',
  wrongProvider: 'Trusts another provider',
  unseen: 'Not seen',
}

export function resultInWords(result: string): string {
  return results[result] ?? result
}

// Some results say that something is wrong, others only that nobody knows.
export function isOpen(result: string): boolean {
  return ['conditional', 'undecided', 'unseen'].includes(result)
}
