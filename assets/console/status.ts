import { byId, say } from './dom.ts';
import type { Phase, StreamState } from './stream.ts';

const WORDS: Readonly<Record<Phase, readonly [string, string]>> = {
  off: ['live stream off', 'NEXT_PUBLIC_HYPERAUTH_ENABLE_LIVE is off. Everything else works.'],
  idle: ['not connected', ''],
  connecting: ['connecting', 'Nothing is lost: the stream resumes after the last event shown.'],
  live: ['live', ''],
  rewinding: ['rewinding', 'The vault asked to start again after the last event shown.'],
  expired: ['renewing', 'The token has expired. The page is getting a new one.'],
  offline: ['offline', 'The vault does not answer. The page keeps trying.'],
  superseded: ['taken over', 'Another connection uses the token of this page.'],
  revoked: ['revoked', 'The token of this page was revoked.'],
};

/** Shows the state of the stream, also to screen readers, with a button if only the person can continue. */
export function createStatus(onResume: () => void): (state: Pick<StreamState, 'phase' | 'lastId'>) => void {
  const [badge, note, resume] = [byId('stream-state'), byId('stream-note'), byId('stream-resume')];
  resume.addEventListener('click', onResume);
  return ({ phase, lastId }) => {
    const [word, explained] = WORDS[phase];
    say(badge, word);
    say(note, explained);
    document.documentElement.dataset['stream'] = phase;
    // For tests, and for people with the inspector open.
    document.documentElement.dataset['lastId'] = String(lastId);
    resume.hidden = phase !== 'superseded' && phase !== 'revoked';
  };
}
