import { createContext, useContext, type MutableRefObject } from 'react'
import type { InstallPlan, InstallQuestion, Operator, Problem, Reason, Written } from '../api/types'
import type { Writing } from '../api/useWrite'
import type { Cloud } from '../roles/fields'
import type { FormError } from '../states/FormErrors'
import type { InstallForm } from './form'

export interface Install {
  operator: Operator
  offered: Cloud[]
  form: InstallForm
  change: (part: Partial<InstallForm>) => void
  question: InstallQuestion
  // The plan of the question as it is now, or nothing.
  plan?: InstallPlan
  problem?: Problem
  look: () => void
  looking: boolean
  // Why the risk of the plan was taken; nothing while it is not.
  taken?: Reason
  take: (reason: Reason) => void
  writing: Writing<Written>
  // What was wrong when the person last wanted to go on.
  errors: FormError[]
  setErrors: (errors: FormError[]) => void
  // Whether a step was left: the first heading does not take the focus from the page's title.
  moved: MutableRefObject<boolean>
}

export const InstallContext = createContext<Install | undefined>(undefined)

export function useInstall(): Install {
  const install = useContext(InstallContext)
  if (!install) throw new Error('this is no step of the install')
  return install
}
