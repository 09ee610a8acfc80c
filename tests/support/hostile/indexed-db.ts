// The IndexedDB of the browsers that tests play. Its steps are tasks of the event loop, so `idle` would not wait for them:
// what is open or being opened counts as under way.
import { IDBDatabase, IDBFactory } from 'fake-indexeddb';
import { counted } from '../under-way.ts';

const { open } = IDBFactory.prototype;
IDBFactory.prototype.open = function (...name) {
  const request = open.apply(this, name);
  ended('the opening of a database of a browser', request, ['success', 'error', 'blocked']);
  return request;
};

const { transaction } = IDBDatabase.prototype;
IDBDatabase.prototype.transaction = function (...of) {
  const opened = transaction.apply(this, of);
  ended('a transaction of a browser', opened, ['complete', 'abort']);
  return opened;
};

function ended(what: string, target: EventTarget, events: readonly string[]): void {
  const over = new Promise<void>((resolve) => {
    for (const event of events) target.addEventListener(event, () => resolve());
  });
  counted(what, over);
}

export { IDBFactory };
