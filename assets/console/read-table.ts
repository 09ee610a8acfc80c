import { explain } from './answer.ts';
import { type Child, make, say } from './dom.ts';

/** A view of one table that is read when it is opened and while it is. */
export function readInto(name: string, read: () => Promise<{ readonly state: string; readonly table: Node }>) {
  const list = make('div', { class: 'scroll', id: `${name}-list`, tabindex: '0', role: 'group' });
  return {
    open({ body }: { readonly body: HTMLElement }) {
      list.setAttribute('aria-labelledby', `title-${name}`);
      if (!body.contains(list)) body.append(list);
    },
    async refresh() {
      try {
        const { state, table } = await read();
        say(document.getElementById(`state-${name}`) ?? make('p'), state);
        if (list.textContent !== table.textContent) list.replaceChildren(table);
      } catch (error) {
        list.replaceChildren(make('p', { class: 'failure' }, explain(error)));
      }
    },
  };
}

/** A table to read alone; on a phone each row is a block. */
export function readTable(caption: string, names: readonly string[], rows: readonly (readonly Child[])[]): HTMLElement {
  const head = names.map((name) => make('th', { scope: 'col' }, name));
  const cells = (row: readonly Child[]) => row.map((cell, i) => make('td', { 'data-name': names[i] ?? '' }, cell));
  return make(
    'table',
    { class: 'read-table' },
    make('caption', { class: 'sr' }, caption),
    make('thead', {}, make('tr', {}, ...head)),
    make('tbody', {}, ...rows.map((row) => make('tr', {}, ...cells(row)))),
  );
}
