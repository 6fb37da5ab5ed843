import path from 'node:path'
import { axe, cut, guard, open, sideways } from './page.mjs'

// patience is how long a page may take, in milliseconds. Machines of tests are slow.
const patience = 60_000

// Scenario is what a scenario drives: a person with a browser.
export class Scenario {
  #found = []
  #pages = []

  constructor(browser, name, { address, pictures }) {
    Object.assign(this, { browser, name, address, pictures })
    this.origin = new URL(address).origin
  }

  // open opens the address that the console printed, which leads to its first page, and then a path of it.
  async open(where = '/operators', options = {}) {
    this.page = await open(this.browser, this.address, options)
    this.page.setDefaultTimeout(patience)
    this.#pages.push(this.page)
    await this.heading(/^(Overview|Operators)$/)
    if (new URL(this.page.url()).pathname !== where) await this.go(where)
    if (where === '/operators') await this.heading('Operators')
    return this.page
  }

  // go opens a path by its address, as a link from elsewhere does.
  async go(where) {
    await this.page.goto(this.origin + where)
  }

  // another opens an address in a second window of the same browser, which has the same session.
  async another(address) {
    const page = await this.page.context().newPage()
    page.setDefaultTimeout(patience)
    page.faults = guard(page, this.origin)
    this.#pages.push(page)
    await page.goto(address)
    return page
  }

  // refuses waits for a button that can have the focus, does nothing, and is described by why.
  async refuses(name, why) {
    const button = this.page.locator('main').getByRole('button', { name, exact: true })
    await button.waitFor()
    const said = await button.evaluate((e) => ({
      disabled: e.getAttribute('aria-disabled'), why: document.getElementById(e.getAttribute('aria-describedby'))?.textContent ?? '',
    }))
    this.expect(`${name} is disabled`, said.disabled, 'true')
    if (!why.test(said.why)) this.fault(`${name} is disabled because of ${JSON.stringify(said.why)}, want ${why}`)
  }

  // heading waits for a page by its heading.
  async heading(name) {
    await this.page.getByRole('heading', { level: 1, name }).waitFor()
  }

  // see waits for a text in the page.
  async see(text, { exact = false } = {}) {
    await this.page.locator('main').getByText(text, { exact }).first().waitFor()
  }

  // tabTo presses the Tab key until a part of the page with this name has the focus, as a person does who
  // has no mouse.
  async tabTo(name, { most = 120, key = 'Tab' } = {}) {
    for (let presses = 0; presses < most; presses++) {
      if ((await this.#focused()).some((text) => text === name || (name instanceof RegExp && name.test(text)))) return
      await this.page.keyboard.press(key)
    }
    throw new Error(`the Tab key does not reach ${name}: it ends at ${JSON.stringify(await this.#focused())}`)
  }

  // focused are the texts by which a person knows the part that has the focus.
  async #focused() {
    return this.page.evaluate(() => {
      const at = document.activeElement
      const labels = [...(at.labels ?? [])].map((label) => label.textContent)
      return [at.getAttribute('aria-label'), ...labels, at.textContent].filter(Boolean).map((text) => text.trim().replace(/\s+/g, ' '))
    })
  }

  // copied presses Enter on a button to copy, which the Tab key reaches, and is what the clipboard has then.
  async copied(name) {
    await this.page.context().grantPermissions(['clipboard-read', 'clipboard-write'], { origin: this.origin })
    await this.tabTo(name)
    await this.page.keyboard.press('Enter')
    await this.page.getByText('Copied', { exact: true }).first().waitFor()
    return this.page.evaluate(() => navigator.clipboard.readText())
  }

  // types has a command typed at the terminal of the test.
  async types(terminal, command) {
    const answer = await fetch(terminal, { method: 'POST', body: command })
    const said = await answer.text()
    if (!answer.ok) throw new Error(`${command}: ${said}`)
    return said
  }

  fault(text) {
    this.#found.push(text)
  }

  // expect complains where two values differ.
  expect(what, got, want) {
    const [a, b] = [JSON.stringify(got), JSON.stringify(want)]
    if (a !== b) this.fault(`${what}: ${a}, want ${b}`)
  }

  // sound complains about what is wrong with the page as it is: accessibility in both colour schemes,
  // the order of its headings, and scrolling in two directions at each width. It keeps pictures.
  async sound(state) {
    for (const scheme of ['light', 'dark']) {
      await this.page.emulateMedia({ colorScheme: scheme })
      await this.page.waitForFunction((dark) => document.documentElement.classList.contains('pf-v6-theme-dark') === dark, scheme === 'dark')
      await this.#still()
      for (const violation of await axe(this.page)) this.fault(`${state}, ${scheme}: ${violation}`)
      await this.picture(`${state}-${scheme}`)
    }
    await this.page.emulateMedia({ colorScheme: 'light' })
    await this.#whole(state)
    const size = this.page.viewportSize()
    for (const width of [320, 768]) {
      await this.page.setViewportSize({ width, height: 800 })
      const wide = await this.#sideways()
      if (wide) this.fault(`${state}: scrolls sideways at ${width} px: ${wide}`)
      await this.#whole(`${state}, ${width} px`)
      await this.picture(`${state}-${width}`)
    }
    await this.page.setViewportSize(size)
    const title = await this.page.title()
    if (!/ · Tabard$/.test(title)) this.fault(`${state}: the title is ${title}`)
    const headings = await this.page.locator('h1').count()
    if (headings !== 1) this.fault(`${state}: there are ${headings} headings of level 1`)
  }

  // whole complains about texts that are cut.
  async #whole(state) {
    for (const text of await cut(this.page)) this.fault(`${state}: cuts ${JSON.stringify(text)}`)
  }

  // sideways says what makes the page scroll in two directions, once it has taken its new width.
  async #sideways() {
    let wide
    for (let looks = 0; looks < 20; looks++) {
      await this.#still()
      wide = await sideways(this.page)
      if (!wide) return undefined
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    return wide
  }

  // still waits until nothing moves: what is half faded in has too little contrast. A colour that is
  // inherited moves one element after another, so that two frames have to be still.
  async #still() {
    await this.page.evaluate(async () => {
      for (let still = 0; still < 2; still++) {
        await new Promise(requestAnimationFrame)
        const moving = document.getAnimations().filter(({ playState }) => playState === 'running')
        if (moving.length > 0) still = -1
        await Promise.all(moving.map((animation) => animation.finished.catch(() => {})))
      }
    })
  }

  async picture(state) {
    await this.page.screenshot({ path: path.join(this.pictures, `${this.name}-${state}.png`) })
  }

  faults() {
    return [...this.#found, ...this.#pages.flatMap((page) => page.faults)]
  }
}
