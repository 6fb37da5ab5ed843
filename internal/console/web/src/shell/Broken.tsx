import { Component, type ReactNode } from 'react'
import { Button, EmptyState, EmptyStateActions, EmptyStateBody, EmptyStateFooter, PageSection } from '@patternfly/react-core'
import { Command } from '../states/Command'
import { PageTitle } from './PageTitle'

interface Props { path: string; children: ReactNode }

// Broken says that a page could not be shown, where there would be none at all. Its code is read when it
// is first opened: a console that has ended no longer gives it. At another path it tries again.
export class Broken extends Component<Props, { at?: string }> {
  state: { at?: string } = {}

  static getDerivedStateFromError() {
    return { at: location.pathname }
  }

  render() {
    if (this.state.at !== this.props.path) return this.props.children
    return (
      <PageSection>
        <PageTitle title="The page could not be shown" />
        <EmptyState status="danger" titleText="The console does not answer" headingLevel="h2">
          <EmptyStateBody><div role="alert">The program that serves this page has ended, or the page has a fault.</div></EmptyStateBody>
          <EmptyStateFooter>
            <Command label="Type" command="tabard console" />
            <EmptyStateActions><Button variant="primary" onClick={() => window.location.reload()}>Retry</Button></EmptyStateActions>
          </EmptyStateFooter>
        </EmptyState>
      </PageSection>
    )
  }
}
