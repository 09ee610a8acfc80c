// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Ownable} from "@openzeppelin/contracts/access/Ownable.sol";
import {Ownable2Step} from "@openzeppelin/contracts/access/Ownable2Step.sol";
import {Assertion} from "./account2/Assertion.sol";
import {AccountDid} from "./registry2/AccountDid.sol";
import {ControllerKeys} from "./registry2/ControllerKeys.sol";
import {AliasBook} from "./registry2/AliasBook.sol";

/// @title What the registry asks of the factory of the first kind of accounts
interface ILegacyFactory {
    function getAddress(uint256 x, uint256 y, uint256 salt) external view returns (address);
}

/// @title What the registry asks of the first edition that it follows
interface ILegacyRegistry {
    function resolve(bytes32 didHash)
        external
        view
        returns (address controller, uint256 created, uint256 updated, string memory metadataCid, bool active);

    function resolveAlias(bytes32 aliasHash)
        external
        view
        returns (address controller, uint256 created, uint256 updated, string memory metadataCid, bool active);
}

/// @title Registry of decentralized identifiers by their hashes, second edition
/// @notice A DID is known here by keccak256 of its text and controlled by one address, which has one active DID at a time.
/// Functions and events are those of the first edition and more, but for `registerFor`, which needs a consent.
///
/// Who may do what: anyone registers for themselves; a registrar registers for an account whose passkey consented to it;
/// only the controller updates, deactivates, offers and moves its DID; an address ends a stranger's registration of its own
/// did:pkh; only the owner names registrars, and it cannot give its role up. Neither owner nor registrar can change or
/// remove a registration.
///
/// What no stranger can take, however fast: a controller's place, since only the controller or its passkey fills it; a
/// registration of its own did:pkh; that did:pkh, which it takes from any other holder; an alias and any other DID that a
/// commitment claimed (`AliasBook`, `claimDid`). What anyone can take who sees a transaction before it is mined: a DID that
/// is not the sender's did:pkh, and an alias, each without a commitment.
///
/// Rightful is the holder of a did:pkh that is or was the address it names: who registered it as that address, or
/// to whom it was moved from there. A rightful holding is for good: it can be moved and ended, and is never taken.
///
/// What the first registry gave out before `legacyUntil` is not up for grabs here: an alias and a DID that are active there
/// are for their controller there alone, but for an address's own did:pkh. Until then nothing is registered here but own
/// did:pkh. The time is part of this contract's address, so whoever deploys it chooses nothing.
///
/// A consent cannot be used twice: the DID that it names is held then, and a hash is free once only. It names chain and
/// registry, so it is for this contract alone; and the DID of a registrar, which is that of the first registrar that used it.
contract DIDRegistry2 is Ownable2Step, AliasBook {
    /// @dev All but the CID is in one storage slot; times are seconds since the Unix epoch.
    struct Registration {
        address controller;
        uint40 created;
        uint40 updated;
        bool active;
        /// @dev `RIGHTFUL`, or how often an older claim has taken the DID.
        uint8 holding;
        string metadataCid;
    }

    /// @notice A passkey proof of version 2 and the key that made it.
    struct Consent {
        bytes32 registrarDidHash;
        bytes32 credentialHash;
        bytes32 identifierHash;
        uint256 expiresAt;
        uint256 x;
        uint256 y;
        /// @dev Of a controller without code: its factory and creation code. Not read for one with code.
        address factory;
        bytes initCode;
        /// @dev The ABI encoding of `WebAuthn.WebAuthnAuth` without its first word.
        bytes assertion;
        /// @dev That of a commitment to the DID for the controller; anything where there is none.
        bytes32 salt;
    }

    /// @notice When a DID that is nobody's own was first taken, and when its present holder's claim began.
    struct Claim {
        uint40 since;
        uint40 claimed;
    }

    uint256 public constant METADATA_CID_BYTES_MAX = 256;
    /// @notice How long after its end a consent still registers: for transactions that are mined late.
    uint256 public constant CONSENT_GRACE = 24 hours;
    /// @notice How far ahead a consent may end: none is good for ever.
    uint256 public constant CONSENT_AHEAD_MAX = 24 hours;

    /// @notice The factory whose accounts may move their DID by `moveDid`; zero for none.
    address public immutable legacyFactory;
    /// @notice The first edition whose aliases and DIDs stay their controllers'; zero for none.
    ILegacyRegistry public immutable legacyRegistry;
    /// @notice What the first registry gives out from then on counts for nothing here, or it would be a way to squat; until
    /// then this one is closed but for own did:pkh. In seconds; zero without a first registry.
    uint40 public immutable legacyUntil;

    mapping(address registrar => bool allowed) public isRegistrar;
    /// @notice Which registrar a registrar's DID is of: the first that used a consent which names it.
    mapping(bytes32 registrarDidHash => address registrar) public registrarOf;
    /// @notice To whom an active DID is offered; zero for nobody.
    mapping(bytes32 didHash => address to) public offers;
    mapping(bytes32 didHash => Registration) private _registrations;
    /// @dev Only of DIDs that a commitment claimed.
    mapping(bytes32 didHash => Claim) private _claims;
    mapping(address controller => bytes32 didHash) private _dids;

    event DIDRegistered(bytes32 indexed didHash, address indexed controller, string metadataCid);
    event RegisteredBy(bytes32 indexed didHash, address indexed registrar);
    event DIDUpdated(bytes32 indexed didHash, string metadataCid);
    event DIDDeactivated(bytes32 indexed didHash);
    event DIDOffered(bytes32 indexed didHash, address indexed from, address indexed to);
    event DIDMoved(bytes32 indexed didHash, address indexed from, address indexed to);
    event RegistrarSet(address indexed registrar, bool allowed);

    error InvalidDid();
    error MetadataCidTooLong(uint256 length);
    error DidTaken(bytes32 didHash);
    error ControllerTaken(address controller);
    error NotController(bytes32 didHash, address caller);
    error NotActive(bytes32 didHash);
    error NotRegistrar(address caller);
    error NotOffered(bytes32 didHash, address caller);
    error OwnDid(bytes32 didHash);
    error NotLegacyAccount(address caller);
    error ConsentExpired(uint256 expiresAt);
    error ConsentEndsTooLate(uint256 expiresAt);
    error ConsentInvalid();
    error ConsentOfAnother(bytes32 registrarDidHash);
    error NotKeyOf(address controller);
    error NotOpenYet(uint256 from);
    error LegacyUntilIsPast();
    error OwnershipStays();

    /// @param firstRegistrar zero for none
    /// @param legacyUntil_ ahead of this block with a first registry: nobody gains by deploying this contract, early or late
    constructor(
        address firstOwner,
        address firstRegistrar,
        address legacyFactory_,
        ILegacyRegistry legacyRegistry_,
        uint40 legacyUntil_
    ) Ownable(firstOwner) {
        if (address(legacyRegistry_) != address(0) && legacyUntil_ <= block.timestamp) revert LegacyUntilIsPast();
        legacyUntil = legacyUntil_;
        legacyFactory = legacyFactory_;
        legacyRegistry = legacyRegistry_;
        if (firstRegistrar != address(0)) _setRegistrar(firstRegistrar, true);
    }

    /// @notice The edition of this registry. The first one has no such function.
    function version() external pure returns (uint256) {
        return 2;
    }

    /// @notice Registers a DID with the caller as its controller. Anyone, while no DID of theirs is active.
    /// @param didHash keccak256 of the DID's text, not zero; that of the caller's own did:pkh is taken from any holder that
    /// is not the rightful one
    /// @param aliasHash the hash of a free alias, or of one of the caller's; zero for none
    /// @param metadataCid where the DID's metadata is; may be empty
    function register(bytes32 didHash, bytes32 aliasHash, string calldata metadataCid) external {
        bool own = AccountDid.isOf(didHash, msg.sender);
        _register(msg.sender, didHash, own, block.timestamp, aliasHash, metadataCid);
    }

    /// @notice As `register`, by a commitment to the DID hash (`commitAlias`): within 10 minutes an older claim takes a DID
    /// that is nobody's own from a younger one, also one that was ended.
    /// @param salt that of the commitment; anything where there is none
    function claimDid(bytes32 didHash, bytes32 salt, bytes32 aliasHash, string calldata metadataCid) external {
        uint256 claimed = _spend(didHash, msg.sender, salt);
        _register(msg.sender, didHash, AccountDid.isOf(didHash, msg.sender), claimed, aliasHash, metadataCid);
    }

    /// @notice Registers the caller's did:pkh, its address written with the capitals of EIP-55. As `register`.
    function registerSelf(bytes32 aliasHash, string calldata metadataCid) external {
        _register(msg.sender, AccountDid.checksummed(msg.sender), true, block.timestamp, aliasHash, metadataCid);
    }

    /// @notice Registers a DID for an account whose passkey consented to DID, alias and account. Registrars only; the rules
    /// are those of `register`. No metadata, since a consent names none.
    function registerFor(address controller, bytes32 didHash, bytes32 aliasHash, Consent calldata consent) external {
        if (!isRegistrar[msg.sender]) revert NotRegistrar(msg.sender);
        _checkConsent(controller, didHash, aliasHash, consent);
        _checkNamed(consent.registrarDidHash);
        bool own = AccountDid.isOf(didHash, controller);
        _register(controller, didHash, own, own ? 0 : _spend(didHash, controller, consent.salt), aliasHash, "");
        emit RegisteredBy(didHash, msg.sender);
    }

    /// @notice Points an active DID to other metadata. Its controller only.
    function update(bytes32 didHash, string calldata metadataCid) external {
        Registration storage registration = _controlled(didHash);
        _checkCid(bytes(metadataCid).length);
        registration.metadataCid = metadataCid;
        registration.updated = uint40(block.timestamp);
        emit DIDUpdated(didHash, metadataCid);
    }

    /// @notice Ends an active DID for good and lets its controller register another one. Its controller only. Its aliases
    /// stay the controller's for 30 days.
    function deactivate(bytes32 didHash) external {
        _end(_controlled(didHash), didHash);
    }

    /// @notice Ends a stranger's active registration of the caller's own did:pkh, in either of its two forms, without taking
    /// it: the caller may hold another DID. Not one that it, or who was it, has moved on.
    function voidOwn(bytes32 didHash) external {
        if (!AccountDid.isOf(didHash, msg.sender)) revert NotController(didHash, msg.sender);
        Registration storage registration = _registrations[didHash];
        if (registration.holding == RIGHTFUL) revert DidTaken(didHash);
        if (!registration.active) revert NotActive(didHash);
        _end(registration, didHash);
    }

    /// @notice Offers an active DID with its aliases to another address, or to nobody (zero). Its controller only.
    function offerDid(bytes32 didHash, address to) external {
        _controlled(didHash);
        offers[didHash] = to;
        emit DIDOffered(didHash, msg.sender, to);
    }

    /// @notice Makes the caller the controller of a DID that is offered to it. It must have no active DID. Its own did:pkh
    /// it registers instead, also from a squatter.
    function acceptDid(bytes32 didHash) external {
        if (offers[didHash] != msg.sender) revert NotOffered(didHash, msg.sender);
        _move(didHash, msg.sender);
    }

    /// @notice Moves the DID of an account of `legacyFactory` to another account of the same key, at once and before that
    /// account exists. The account only, which must control the DID; the other one must have no active DID.
    /// @param legacySalt that of the calling account
    /// @param factory with `initCode` what creates the other account by CREATE2; `initCode` ends in x ‖ y ‖ salt
    function moveDid(bytes32 didHash, uint256 legacySalt, address factory, bytes calldata initCode) external {
        _controlled(didHash);
        ControllerKeys.Created memory to = ControllerKeys.read(factory, initCode);
        if (legacyFactory == address(0) || ILegacyFactory(legacyFactory).getAddress(to.x, to.y, legacySalt) != msg.sender) {
            revert NotLegacyAccount(msg.sender);
        }
        // The key may have lost an account that exists.
        if (to.account.code.length != 0 && !ControllerKeys.isKey(to.account, to.x, to.y)) revert NotKeyOf(to.account);
        _move(didHash, to.account);
    }

    /// @notice Names a registrar or withdraws the role. The owner only.
    function setRegistrar(address registrar, bool allowed) external onlyOwner {
        _setRegistrar(registrar, allowed);
    }

    /// @notice Refuses: a registry without an owner could never withdraw a registrar.
    function renounceOwnership() public view override onlyOwner {
        revert OwnershipStays();
    }

    /// @notice The DID hash last registered for, or moved to, a controller, active or not; zero when there was none or
    /// another controls it now.
    function controllerToDid(address controller) public view returns (bytes32 didHash) {
        didHash = _dids[controller];
        if (_registrations[didHash].controller != controller) return 0;
    }

    /// @notice Whether the holder of a did:pkh is the rightful one, from whom no one takes it.
    function isRightful(bytes32 didHash) external view returns (bool) {
        return _registrations[didHash].holding == RIGHTFUL;
    }

    /// @notice The registration behind an alias; all zero when the alias leads to no DID.
    function resolveAlias(bytes32 aliasHash)
        external
        view
        returns (address controller, uint256 created, uint256 updated, string memory metadataCid, bool active)
    {
        return resolve(aliases(aliasHash));
    }

    /// @notice A DID's registration, active or not; all zero when there is none.
    function resolve(bytes32 didHash)
        public
        view
        returns (address controller, uint256 created, uint256 updated, string memory metadataCid, bool active)
    {
        Registration storage found = _registrations[didHash];
        return (found.controller, found.created, found.updated, found.metadataCid, found.active);
    }

    /// @dev `claimed` is when the claim of a DID that is not the controller's own began.
    function _register(
        address controller,
        bytes32 didHash,
        bool rightful,
        uint256 claimed,
        bytes32 aliasHash,
        string memory metadataCid
    ) private {
        if (didHash == 0) revert InvalidDid();
        _checkCid(bytes(metadataCid).length);
        if (!rightful) _checkOpen();
        Registration storage found = _registrations[didHash];
        uint8 holding = rightful ? RIGHTFUL : 0;
        if (found.controller != address(0)) {
            if (found.holding == RIGHTFUL) revert DidTaken(didHash);
            if (!rightful) holding = _overtake(controller, didHash, found, claimed);
            delete offers[didHash];
        } else if (!rightful && claimed != block.timestamp) {
            _claims[didHash] = Claim(uint40(block.timestamp), uint40(claimed));
        }
        if (!rightful && !_isFreeInLegacy(false, didHash, controller)) revert DidTaken(didHash);
        _occupy(controller, didHash);
        uint40 time = uint40(block.timestamp);
        _registrations[didHash] = Registration(controller, time, time, true, holding, metadataCid);
        emit DIDRegistered(didHash, controller, metadataCid);
        if (aliasHash != 0) _takeAlias(aliasHash, didHash, controller, block.timestamp);
    }

    /// @dev Takes a DID from a younger claim in its first 10 minutes, which nothing opens again, or reverts. Not from its own
    /// controller, who may have ended it: a consent would count twice.
    function _overtake(address controller, bytes32 didHash, Registration storage found, uint256 claimed)
        private
        returns (uint8 holding)
    {
        Claim memory held = _claims[didHash];
        if (held.since == 0) (held.since, held.claimed) = (found.created, found.created);
        holding = found.holding + 1;
        bool isOver = block.timestamp >= held.since + ALIAS_SETTLES || claimed >= held.claimed;
        // No number of takings makes a holder the rightful one.
        if (isOver || holding == RIGHTFUL || found.controller == controller) revert DidTaken(didHash);
        _claims[didHash] = Claim(held.since, uint40(claimed));
    }

    function _end(Registration storage registration, bytes32 didHash) private {
        registration.active = false;
        registration.updated = uint40(block.timestamp);
        delete offers[didHash];
        emit DIDDeactivated(didHash);
    }

    function _move(bytes32 didHash, address to) private {
        Registration storage registration = _registrations[didHash];
        // So that a registration alone makes a holder rightful: it ends what came before, a move does not.
        if (registration.holding != RIGHTFUL && AccountDid.isOf(didHash, to)) revert OwnDid(didHash);
        address from = registration.controller;
        delete offers[didHash];
        _occupy(to, didHash);
        registration.controller = to;
        registration.updated = uint40(block.timestamp);
        emit DIDMoved(didHash, from, to);
    }

    /// @dev Fills a controller's place, which must be free.
    function _occupy(address controller, bytes32 didHash) private {
        if (_registrations[controllerToDid(controller)].active) revert ControllerTaken(controller);
        _dids[controller] = didHash;
    }

    function _checkConsent(address controller, bytes32 didHash, bytes32 aliasHash, Consent calldata consent) private view {
        uint256 end = consent.expiresAt;
        if (end > block.timestamp + CONSENT_AHEAD_MAX) revert ConsentEndsTooLate(end);
        if (block.timestamp > end && block.timestamp - end > CONSENT_GRACE) revert ConsentExpired(end);
        (uint256 x, uint256 y) = (consent.x, consent.y);
        bool isKey;
        if (controller.code.length == 0) {
            ControllerKeys.Created memory made = ControllerKeys.read(consent.factory, consent.initCode);
            isKey = made.account == controller && made.x == x && made.y == y;
        } else {
            isKey = ControllerKeys.isKey(controller, x, y);
        }
        if (!isKey) revert NotKeyOf(controller);
        bytes32 challenge = _challenge(controller, didHash, aliasHash, consent);
        if (!Assertion.verify(challenge, consent.assertion, x, y)) revert ConsentInvalid();
    }

    /// @dev That the consent names the caller. A name whose registrar was withdrawn goes to the next one that uses it.
    function _checkNamed(bytes32 registrarDidHash) private {
        address named = registrarOf[registrarDidHash];
        if (named == msg.sender) return;
        if (named != address(0) && isRegistrar[named]) revert ConsentOfAnother(registrarDidHash);
        registrarOf[registrarDidHash] = msg.sender;
    }

    /// @dev What the passkey signed: `docs/passkey-proof.md`.
    function _challenge(address controller, bytes32 didHash, bytes32 aliasHash, Consent calldata consent)
        private
        view
        returns (bytes32)
    {
        return keccak256(
            abi.encode(
                "vault/register/v2",
                consent.registrarDidHash,
                block.chainid,
                address(this),
                didHash,
                aliasHash,
                controller,
                consent.credentialHash,
                consent.identifierHash,
                consent.expiresAt
            )
        );
    }

    function _controlled(bytes32 didHash) private view returns (Registration storage registration) {
        registration = _registrations[didHash];
        if (registration.controller != msg.sender) revert NotController(didHash, msg.sender);
        if (!registration.active) revert NotActive(didHash);
    }

    function _checkCid(uint256 length) private pure {
        if (length > METADATA_CID_BYTES_MAX) revert MetadataCidTooLong(length);
    }

    function _setRegistrar(address registrar, bool allowed) private {
        isRegistrar[registrar] = allowed;
        emit RegistrarSet(registrar, allowed);
    }

    function _isFreeInLegacy(bytes32 aliasHash, address controller) internal view override returns (bool) {
        return _isFreeInLegacy(true, aliasHash, controller);
    }

    /// @dev Whether no other controller had an alias, or a DID, in the first registry before `legacyUntil`. One that reverts
    /// knows of none.
    function _isFreeInLegacy(bool isAlias, bytes32 hash, address controller) private view returns (bool) {
        if (address(legacyRegistry) == address(0)) return true;
        if (isAlias) {
            // An alias there is as old as its DID's registration.
            try legacyRegistry.resolveAlias(hash) returns (
                address holder, uint256 since, uint256, string memory, bool active
            ) {
                return !active || holder == controller || since >= legacyUntil;
            } catch {
                return true;
            }
        }
        try legacyRegistry.resolve(hash) returns (address holder, uint256 since, uint256, string memory, bool active) {
            return !active || holder == controller || since >= legacyUntil;
        } catch {
            return true;
        }
    }

    function _checkOpen() internal view override {
        if (block.timestamp < legacyUntil) revert NotOpenYet(legacyUntil);
    }

    function _ownDid(address controller) internal view override returns (bytes32 didHash) {
        didHash = controllerToDid(controller);
        if (!_registrations[didHash].active) revert NotActive(didHash);
    }

    function _holder(bytes32 didHash) internal view override returns (address, uint8, bool, uint256) {
        Registration storage found = _registrations[didHash];
        return (found.controller, found.holding, found.active, found.updated);
    }
}
