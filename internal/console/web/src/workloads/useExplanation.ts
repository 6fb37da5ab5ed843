import { useMemo, useRef } from 'react'
import type { Explanation, Problem } from '../api/types'
import { useRead, type Read } from '../api/useRead'
import type { FormError } from '../states/FormErrors'
import { refusedIn } from './call'

export interface Explained extends Read<Explanation> {
  // What is wrong with the call. The explanation is then the one without it.
  refused: FormError[]
}

const none: FormError[] = []

// useExplanation reads an explanation with a call, if one is asked about. An answer about one call is not
// shown beside another one. A call that is refused takes nothing away: what is explained without it stays.
export function useExplanation(path: string, call: string): Explained {
  const asked = useRead<Explanation>(path === '' || call === '' ? path : `${path}?${call}`)
  const refused = useRefused(asked.problem)
  const without = useRead<Explanation>(refused.length > 0 ? path : '')
  const last = useRef<Explanation>(undefined)
  const read = refused.length > 0 ? without : asked
  if (read.data && !read.data.subject.actions) last.current = read.data
  if (refused.length === 0 || read.problem) return { ...read, refused }
  return { ...read, data: read.data ?? last.current, refused }
}

function useRefused(problem?: Problem): FormError[] {
  return useMemo(() => (problem ? refusedIn(problem) : none), [problem])
}
