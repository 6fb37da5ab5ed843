import { createContext, useContext } from 'react'
import type { Session } from '../api/types'

export const SessionContext = createContext<Session | undefined>(undefined)

// useSession is the session, or undefined until the server has answered.
export function useSession() {
  return useContext(SessionContext)
}
