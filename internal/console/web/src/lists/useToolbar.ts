import { useRef } from 'react'
import type { Facet, Problem } from '../api/types'
import type { Query } from './query'

// Listed is a list as far as its toolbar needs it.
export interface Listed { facets: Facet[]; total: number; matching: number; page: number; limit: number }

// useToolbar is the list that was read last, and whether it has a toolbar. A read that fails takes neither
// away: the person goes on typing, or drops the filter that is refused. A list that is empty has none.
export function useToolbar<T extends Listed>(query: Query, { data, problem }: { data?: T; problem?: Problem }): { last?: T; isShown: boolean } {
  const last = useRef<T>(undefined)
  const isShown = useRef(false)
  if (data) {
    last.current = data
    isShown.current = data.total > 0
  } else if (problem && query.filtered) isShown.current = true
  return { last: last.current, isShown: isShown.current }
}
