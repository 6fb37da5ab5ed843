import { end, isOver, regain, whyEnded } from './ended'
import type { Problem } from './types'

const key = 'tabard-csrf'

export class ApiError extends Error {
  constructor(readonly problem: Problem) {
    super(problem.title)
  }
}

// The cookie is of the whole browser. When another tab has a new session, this one has it, too.
addEventListener('storage', (event) => {
  if (event.key === key && event.newValue !== null) regain()
})

// start changes the one-time code of the opened address for a session. The code leaves the address
// before anything else happens, so that no copy of the address has it.
export async function start(): Promise<void> {
  const code = new URLSearchParams(location.hash.slice(1)).get('code')
  if (code === null) return
  history.replaceState(history.state, '', location.pathname + location.search)
  try {
    const { csrf } = await read<{ csrf: string }>('session', bodyOf({ code }))
    localStorage.setItem(key, csrf)
  } catch (error) {
    // The same address opened again has a code that is spent, and a session that may be good.
    if (localStorage.getItem(key) === null) throw error
  }
}

export function get<T>(path: string, signal?: AbortSignal): Promise<T> {
  return inSession(() => read<T>(path, { signal }))
}

// post asks what may change something. Who asks says what to do with the answer.
export function post<T>(path: string, body: unknown, signal?: AbortSignal): Promise<T> {
  return inSession(() => read<T>(path, { ...bodyOf(body), signal }))
}

// postForFile asks for the same as post, as a file to keep.
export function postForFile(path: string, body: unknown, type: string): Promise<Blob> {
  const init = bodyOf(body)
  return inSession(() => ask(path, { ...init, headers: { ...init.headers, Accept: type } }).then((response) => bodyFrom(response.blob())))
}

// stream opens an address whose answer does not end.
export function stream(path: string, headers: Record<string, string>, signal: AbortSignal): Promise<Response> {
  return inSession(() => ask(path, { headers: { ...headers, Accept: 'text/event-stream' }, cache: 'no-store', signal }))
}

// inSession sends nothing after the end of the session, which is known to be refused.
async function inSession<T>(send: () => Promise<T>): Promise<T> {
  const over = whyEnded()
  if (over) throw new ApiError(over)
  try {
    return await send()
  } catch (error) {
    if (error instanceof ApiError && isOver(error.problem)) end(error.problem)
    throw error
  }
}

function bodyOf(body: unknown) {
  return { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) }
}

async function read<T>(path: string, init: RequestInit): Promise<T> {
  const response = await ask(path, init)
  return await bodyFrom(response.json() as Promise<T>, init.signal)
}

// bodyFrom reads an answer to its end. One that breaks off, or is none, is a problem like another: the
// page says so, and does not wait for ever.
async function bodyFrom<T>(body: Promise<T>, signal?: AbortSignal | null): Promise<T> {
  try {
    return await body
  } catch (error) {
    if (signal?.aborted) throw error
    throw new ApiError(unreachable)
  }
}

async function ask(path: string, init: RequestInit): Promise<Response> {
  const headers = new Headers(init.headers)
  if (!headers.has('Accept')) headers.set('Accept', 'application/json')
  headers.set('X-Tabard-CSRF', localStorage.getItem(key) ?? '')
  let response: Response
  try {
    response = await fetch(`/api/v1/${path}`, { ...init, headers, redirect: 'error' })
  } catch (error) {
    if (init.signal?.aborted) throw error
    throw new ApiError(unreachable)
  }
  if (response.ok) return response
  throw new ApiError(await problemOf(response, init.signal))
}

const unreachable: Problem = {
  type: 'about:blank', status: 0, code: 'Unreachable', instance: '',
  title: 'The console does not answer',
  detail: 'The program that serves this page has ended, or it is too busy to answer.',
  next: ['tabard console'],
}

async function problemOf(response: Response, signal?: AbortSignal | null): Promise<Problem> {
  const isProblem = response.headers.get('Content-Type')?.startsWith('application/problem+json')
  if (isProblem) return await bodyFrom(response.json() as Promise<Problem>, signal)
  return {
    type: 'about:blank', status: response.status, code: 'Unexpected', instance: '',
    title: 'The console answered something unexpected',
    detail: `It answered with status ${response.status} and no reason.`,
  }
}
