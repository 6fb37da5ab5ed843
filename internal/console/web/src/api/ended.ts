import { useSyncExternalStore } from 'react'
import type { Problem } from './types'

// Ended is why there is no session, or nothing while there may be one, and how often one was found again.
interface Ended { problem?: Problem; regained: number }

let now: Ended = { regained: 0 }
const listeners = new Set<() => void>()

function become(next: Ended) {
  now = next
  listeners.forEach((listener) => listener())
}

// isOver says that there is no session, or that this browser has lost its half of one: then no request
// of it is answered, as after the end.
export function isOver({ status, code }: Problem): boolean {
  return status === 401 || code === 'token'
}

// whyEnded is why nothing can be asked now.
export function whyEnded(): Problem | undefined {
  return now.problem
}

// end says that the session is over. The first reason is the one that a person reads.
export function end(problem: Problem) {
  if (!now.problem) become({ ...now, problem })
}

// regain says that there is a session again. If there is none, what is read next says so.
export function regain() {
  if (now.problem) become({ regained: now.regained + 1 })
}

function subscribe(listener: () => void) {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export function useEnded(): Ended {
  return useSyncExternalStore(subscribe, () => now)
}
