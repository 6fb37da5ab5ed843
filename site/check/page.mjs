// Widths in pixels: a small telephone, a tablet, a desk.
const widths = [320, 768, 1280]

// Page is one page of the site in a tab.
export class Page {
  constructor(tab, address, complain) {
    Object.assign(this, { tab, address, complain })
  }

  // check complains about what is wrong with the page, and returns its links and ids.
  async check() {
    const { tab, address, complain } = this
    const listeners = {
      request: (request) => {
        const url = new URL(request.url())
        if (url.origin !== address.origin && url.protocol !== 'data:') complain(`asks another host, ${url.origin}`)
      },
      response: (response) => response.status() >= 400 && complain(`asks for ${response.url().replace(address.origin, '')}, which answers ${response.status()}`),
      console: (message) => message.type() === 'error' && complain(`says in the console: ${message.text()}`),
      pageerror: (error) => complain(`throws ${error.message}`),
    }
    for (const [event, listener] of Object.entries(listeners)) tab.on(event, listener)
    try {
      await tab.emulateMedia({ colorScheme: 'light' })
      await tab.goto(address.href)
      // From then on it is what readers see and use.
      await tab.waitForFunction(() => document.querySelector('#app')?.__vue_app__)
      // What is half faded in would have too little contrast.
      await tab.addStyleTag({ content: '*, ::before, ::after { transition: none !important; animation: none !important }' })
    } catch (err) {
      complain(`does not start: ${err.message.split('\n')[0]}`)
    }
    await this.checkWidths()
    // Rules on other things than colours are the same in the dark.
    await this.checkAccessibility('light', ['wcag2a', 'wcag2aa'])
    await this.darken()
    await this.checkAccessibility('dark', ['color-contrast'])
    const found = await tab.evaluate(() => ({
      links: [...document.querySelectorAll('a[href]')].map((a) => a.href),
      ids: [...document.querySelectorAll('[id]')].map((e) => e.id),
    }))
    for (const [event, listener] of Object.entries(listeners)) tab.off(event, listener)
    return found
  }

  // checkWidths complains about pages that scroll sideways. What is wide scrolls by itself.
  async checkWidths() {
    for (const width of widths) {
      await this.tab.setViewportSize({ width, height: 800 })
      const scroll = await this.tab.evaluate(() => {
        const protruding = [...document.body.querySelectorAll('*')].filter((e) => e.getBoundingClientRect().right > innerWidth).at(-1)
        return { width: document.scrollingElement.scrollWidth, by: protruding?.outerHTML.slice(0, 120) }
      })
      if (scroll.width > width) this.complain(`scrolls sideways at ${width} px: it is ${scroll.width} px wide, by ${scroll.by}`)
    }
  }

  // darken has the page look as for a reader who prefers a dark one.
  async darken() {
    const background = () => getComputedStyle(document.body).backgroundColor
    const light = await this.tab.evaluate(background)
    await this.tab.emulateMedia({ colorScheme: 'dark' })
    try {
      await this.tab.waitForFunction((light) => getComputedStyle(document.body).backgroundColor !== light, light, { timeout: 60_000 })
    } catch {
      this.complain(`is as light for readers who prefer a dark page: its background stays ${light}`)
    }
  }

  // checkAccessibility asks axe for rules of WCAG 2 at level AA, contrast among them.
  async checkAccessibility(scheme, rules) {
    const { violations } = await this.tab.evaluate((rules) => window.axe.run(document, { runOnly: rules, resultTypes: ['violations'] }), rules)
    for (const { id, help, nodes } of violations) {
      this.complain(`${scheme}: ${id}: ${help}: ${nodes.length} times, first ${nodes[0].html.slice(0, 160)} ${nodes[0].any?.[0]?.message ?? ''}`)
    }
  }
}
