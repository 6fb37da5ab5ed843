import { useState } from 'react'
import type { HandoffQuestion, Operator } from '../api/types'

export const texts = ['account', 'namespace', 'clusterName', 'roleName', 'issuer', 'path', 'boundary'] as const
export type HandoffFields = Record<(typeof texts)[number], string>

// What was filled in is kept while the page is open, so that nobody types it twice.
const kept = new Map<string, HandoffFields>()

export function useHandoffForm(operator: Operator): [HandoffFields, (change: Partial<HandoffFields>) => void] {
  const [form, setForm] = useState(() => kept.get(operator.id) ?? {
    account: '', namespace: operator.suggestedNamespace ?? '', clusterName: '', roleName: '', issuer: '', path: '', boundary: '',
  })
  const change = (part: Partial<HandoffFields>) => setForm((old) => {
    const next = { ...old, ...part }
    kept.set(operator.id, next)
    return next
  })
  return [form, change]
}

// questionOf has only what was filled in: for the rest, the server knows better.
export function questionOf(operator: Operator, form: HandoffFields): HandoffQuestion {
  const question: HandoffQuestion = { operator: operator.id, version: operator.chosen?.csv }
  for (const name of texts) if (form[name].trim() !== '') question[name] = form[name].trim()
  return question
}
