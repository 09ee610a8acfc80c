import { expect, test } from 'bun:test';
import { createSession } from '../../../assets/console/session.ts';

function tab() {
  const kept = new Map<string, string>();
  return {
    kept,
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => void kept.set(key, value),
    removeItem: (key: string) => void kept.delete(key),
  };
}

test('the secret stays in memory unless the person asks for more', () => {
  const storage = tab();
  const session = createSession(storage);
  expect(session.secret()).toBe('');
  session.signIn('s3cret', false);
  expect(session.secret()).toBe('s3cret');
  expect(storage.kept.size).toBe(0);
  expect(createSession(storage).secret()).toBe('');
});

test('a tab that keeps it forgets it at sign-out, and when the next sign-in does not ask', () => {
  const storage = tab();
  const session = createSession(storage);
  session.signIn('s3cret', true);
  expect(createSession(storage).secret()).toBe('s3cret');
  session.signIn('other', false);
  expect(storage.kept.size).toBe(0);
  session.signIn('s3cret', true);
  session.signOut();
  expect(session.secret()).toBe('');
  expect(storage.kept.size).toBe(0);
});

test('a browser that keeps nothing signs in as well', () => {
  const session = createSession(undefined);
  session.signIn('s3cret', true);
  expect(session.secret()).toBe('s3cret');
  session.signOut();
  expect(session.secret()).toBe('');
});
