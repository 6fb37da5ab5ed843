import type { Problem } from '../api/types'
import type { FormError } from '../states/FormErrors'
import { sentence } from '../states/words'

// Call is what a person asks about, as it is typed.
export interface Call { actions: string; resource: string }

export const fields = { action: 'call-action', resource: 'call-resource' }

export function wordsOf(text: string): string[] {
  return text.split(/[\s,]+/).filter(Boolean)
}

export function missingIn({ actions }: Call): FormError[] {
  return wordsOf(actions).length === 0 ? [{ id: fields.action, text: 'Action is empty' }] : []
}

// refusedIn is what the server says of a field of the call, at that field.
export function refusedIn({ field, detail }: Problem): FormError[] {
  if (field !== 'action' && field !== 'resource') return []
  return [{ id: fields[field], text: sentence(detail) }]
}
