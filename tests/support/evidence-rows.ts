/** Rows of the chapter on evidence, each with the names of its tests, or their beginnings. */
export const EVIDENCE_TESTS: Readonly<Record<string, readonly string[]>> = {
  'a phished code for something else': ['a phished code for something else makes none: purpose, both ways'],
  "binding somebody's address to a stranger's key, or a stolen proof": [
    "binding somebody's address to a stranger's key, or a stolen proof",
  ],
  'another page has a person sign for its own key': ['another page has a person sign for its own key'],
  'replay of a presentation at another verifier': ['replay of a presentation at another verifier'],
  'verifiers compare notes': ['verifiers compare notes'],
  'guessing a phone number from its digest': ['guessing an address from its digest'],
  'the vault follows its people': ['the vault follows its people'],
  'address passes to another person': ['address passes to another person'],
  'lost or stolen passkey, moved or ended DID': ['lost or stolen passkey, moved or ended DID'],
  'stolen signing key': ['stolen signing key'],
  'two processes with different key lists during a rotation': ['two processes with different key lists'],
  'confusion of tokens (UCAN, attestation, evt, kb, proof, status)': ['confusion of tokens'],
  "a squatter's registry entry for a stranger's did:pkh or did:hyper, or its deactivation": [
    'a squatter’s entry is nothing, nor is its deactivation',
    'did:hyper is there only if the account that it names registered it',
  ],
  'an ended or moved DID asked with other capitals': [
    'evidence A9: an ended DID is 410 in all spellings',
    'an offered DID is its holder’s; a moved one names its controller, in all spellings',
  ],
  "a contract that shows somebody else's key, or burns gas, or answers megabytes": [
    'a contract that %s shows no keys',
    'what a contract shows is a key only as a point of the curve',
  ],
  'a re-org, one lying node': [
    'is no answer if it is replaced while it is read',
    'is read where one of two nodes is behind',
    'two nodes that disagree are no answer',
  ],
  'resolver as amplifier': [
    'a search by time costs three',
    '%s is refused, and asks nothing',
    'evidence A8: a search by time on a chain too long to mine',
    'reads a final header once: the same search again reads the newest one alone',
    'keeps 10,000 headers, and drops the oldest',
  ],
};

/** The rules of its part B, by number. */
export const CREDENTIAL_RULES = [1, 2, 3, 4, 5, 6, 7, 8].map((rule) => `evidence B${rule}`);

/** The rules of its part A, by number. */
export const RESOLUTION_RULES = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12].map((rule) => `evidence A${rule}`);
