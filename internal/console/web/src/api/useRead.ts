import { useCallback, useEffect, useState } from 'react'
import { ApiError, get } from './client'
import { useEnded } from './ended'
import type { Problem } from './types'

// Read is what is known of an address of the API. Both data and problem are there when a read
// that went well was followed by one that failed: old data can still be read.
export interface Read<T> {
  data?: T
  problem?: Problem
  loading: boolean
  retry: () => void
}

interface State<T> { path?: string; data?: T; problem?: Problem; loading: boolean }

// useRead reads from the API, again when the path changes, or when there is a session again. An empty path reads nothing. With keep,
// the data of the path before stays until there is new data.
export function useRead<T>(path: string, { keep = false } = {}): Read<T> {
  const [state, setState] = useState<State<T>>({ loading: path !== '' })
  const [turn, setTurn] = useState(0)
  const { regained } = useEnded()

  useEffect(() => {
    if (path === '') return setState({ loading: false })
    const abort = new AbortController()
    setState((old) => ({ path: old.path, data: keep || old.path === path ? old.data : undefined, loading: true }))
    get<T>(path, abort.signal).then(
      (data) => setState({ path, data, loading: false }),
      (error: unknown) => {
        if (abort.signal.aborted) return
        if (!(error instanceof ApiError)) throw error
        // What was read for another path is no answer to this one, and what is gone is shown no more.
        const isGone = error.problem.status === 404
        setState((old) => ({ path, data: old.path === path && !isGone ? old.data : undefined, problem: error.problem, loading: false }))
      },
    )
    return () => abort.abort()
  }, [path, keep, turn, regained])

  const retry = useCallback(() => setTurn((n) => n + 1), [])
  return { data: state.data, problem: state.problem, loading: state.loading, retry }
}
