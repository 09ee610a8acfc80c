// Preloaded by `bun test` (bunfig.toml): what `fetch` gets from a vault, of this process or another, is held against the
// description of the API. A test file that received what is not described fails at its end.
import { afterAll, expect } from 'bun:test';
import { isWatched, undocumentedAnswers, watchAnswer } from './watch-answers.ts';

const plain = globalThis.fetch;

const watched = async (...[input, init]: Parameters<typeof fetch>): Promise<Response> => {
  const response = await plain(input, init);
  const method = init?.method ?? (input instanceof Request ? input.method : 'GET');
  // A redirect makes a GET of a POST.
  const isTurned = response.redirected && method === 'POST';
  if (!isWatched(response)) await watchAnswer(isTurned ? 'GET' : method.toUpperCase(), response.url, response);
  return response;
};
globalThis.fetch = Object.assign(watched, plain);

/** Fails for the answers since the last call. Each test file calls it (`each-file.ts`). */
export async function expectDocumented(): Promise<void> {
  expect(await undocumentedAnswers()).toEqual([]);
}

// For what came after the last file's.
afterAll(expectDocumented);
