import { useCallback, useEffect, useRef, useState, type MutableRefObject } from 'react'
import { announce } from '../shell/announce'
import { ApiError, post } from './client'
import type { Problem } from './types'

// Writing is what became of the last write.
export interface Writing<T> {
  problem?: Problem
  busy: boolean
  // write resolves to nothing if there was a problem, or if another write still runs.
  write: (path: string, body: unknown) => Promise<T | undefined>
  forget: () => void
  // Whether the page is still shown: if not, the answer must not lead away from another one.
  here: MutableRefObject<boolean>
}

// useWrite posts what changes the cluster. Nothing ends a write before its answer: who leaves the page
// would else not know what was written.
export function useWrite<T>(): Writing<T> {
  const [state, setState] = useState<{ problem?: Problem; busy: boolean }>({ busy: false })
  const running = useRef(false)
  const here = useRef(true)
  useEffect(() => {
    here.current = true
    return () => { here.current = false }
  }, [])

  const write = useCallback(async (path: string, body: unknown) => {
    if (running.current) return undefined
    running.current = true
    setState({ busy: true })
    let problem: Problem | undefined
    try {
      return await post<T>(path, body)
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      problem = error.problem
      if (!here.current) announce(`${problem.title}. ${problem.detail}`)
      return undefined
    } finally {
      running.current = false
      setState({ problem, busy: false })
    }
  }, [])
  const forget = useCallback(() => {
    if (!running.current) setState({ busy: false })
  }, [])
  return { ...state, write, forget, here }
}
