import { useCallback, useEffect, useRef, useState } from 'react'
import { ApiError, post } from './client'
import type { Problem } from './types'

// Asked is what became of the last question that a person sent.
export interface Asked<T> {
  data?: T
  problem?: Problem
  busy: boolean
  // ask resolves to nothing if there was a problem, or if another question was sent meanwhile.
  ask: (path: string, body: unknown) => Promise<T | undefined>
  // forget ends a question that still runs, too, so that no late answer comes.
  forget: () => void
}

interface State<T> { data?: T; problem?: Problem; busy: boolean }

// useAsk posts questions that change nothing, one at a time. What changes something is for useWrite.
export function useAsk<T>(): Asked<T> {
  const [state, setState] = useState<State<T>>({ busy: false })
  const running = useRef<AbortController>(undefined)
  useEffect(() => () => running.current?.abort(), [])

  const ask = useCallback(async (path: string, body: unknown) => {
    running.current?.abort()
    const abort = new AbortController()
    running.current = abort
    setState({ busy: true })
    try {
      const data = await post<T>(path, body, abort.signal)
      if (abort.signal.aborted) return undefined
      setState({ data, busy: false })
      return data
    } catch (error) {
      if (abort.signal.aborted) return undefined
      if (!(error instanceof ApiError)) throw error
      setState({ problem: error.problem, busy: false })
      return undefined
    }
  }, [])
  const forget = useCallback(() => {
    running.current?.abort()
    setState({ busy: false })
  }, [])
  return { ...state, ask, forget }
}
