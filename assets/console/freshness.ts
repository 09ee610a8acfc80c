import { byId, say } from './dom.ts';
import { formatDuration } from './format.ts';
import type { Phase } from './stream.ts';

/** Whether what the page shows is still so. While it is not, the page is grey and says when it was last seen. */
export interface Freshness {
  /** A reading came, or did not. */
  read(isSeen: boolean): void;
  /** The stream changed. */
  stream(phase: Phase): void;
  stop(): void;
}

/** Creates it; `onBack` is called when the stream is back. */
export function createFreshness(onBack: () => void): Freshness {
  let seenAt: number | undefined;
  let isRead = true;
  let wasLive = false;
  let isAway = false;
  let timer: ReturnType<typeof setInterval> | undefined;
  const show = (): void => {
    const isStale = seenAt !== undefined && (!isRead || isAway);
    document.documentElement.toggleAttribute('data-stale', isStale);
    const ago = formatDuration(1_000 * Math.max(1, Math.round((performance.now() - (seenAt ?? 0)) / 1_000)));
    say(byId('last-seen'), isStale ? `Last seen ${ago} ago. What is shown may have changed since.` : '');
    clearInterval(timer);
    if (isStale) timer = setInterval(show, 1_000);
  };
  return {
    read(isSeen) {
      isRead = isSeen;
      if (isSeen) seenAt = performance.now();
      show();
    },
    stream(phase) {
      const was = isAway;
      // Before the first connection nothing is missing yet.
      isAway = phase === 'offline' || (wasLive && phase === 'connecting');
      wasLive = phase === 'live' || (wasLive && isAway);
      if (isAway !== was) show();
      if (was && phase === 'live') onBack();
    },
    stop() {
      seenAt = undefined;
      isAway = false;
      wasLive = false;
      show();
    },
  };
}
