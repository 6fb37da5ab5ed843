import type { ReactNode } from 'react'
import { Link } from 'react-router-dom'
import { Breadcrumb, BreadcrumbItem, PageSection, Stack, StackItem } from '@patternfly/react-core'
import { PageTitle } from './PageTitle'

// Crumb is a page on the way to this one. This one has no address.
export interface Crumb { name: string; to?: string }

interface Props { way: Crumb[]; title: string; actions?: ReactNode; isBusy?: boolean; children: ReactNode }

// Frame is a page below another one: the way to it, its title, and what it shows.
export function Frame({ way, title, actions, isBusy, children }: Props) {
  return (
    <PageSection>
      <Stack hasGutter aria-busy={isBusy}>
        <StackItem>
          <Breadcrumb aria-label="Where you are">
            {way.map(({ name, to }) => (
              <BreadcrumbItem key={name} isActive={!to} className="tabard-breaks">{to ? <Link to={to}>{name}</Link> : name}</BreadcrumbItem>
            ))}
          </Breadcrumb>
        </StackItem>
        <StackItem><PageTitle title={title}>{actions}</PageTitle></StackItem>
        {children}
      </Stack>
    </PageSection>
  )
}
