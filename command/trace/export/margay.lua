-- A Wireshark dissector of margay's messages: packets of `margay trace export --format pcapng` (link type USER0), and
-- live captures of the TCP wire. docs/tcp_wire.md and docs/frame_format.md define the bytes of connections and frames,
-- docs/trace_export.md those of the note before a packet of a trace.
--
--   tshark -X lua_script:margay.lua -r trace.pcapng
--   tshark -X lua_script:margay.lua -i lo -Y margay
--   tshark -X lua_script:margay.lua -i lo -d tcp.port==N,margay      if it is not recognised automatically
--
-- A connection is recognised by the first bytes of its handshake, or else by a frame with the right checksum in its
-- prefix.

local bits = bit or bit32 or require("bit")
local band, bxor, rshift, bnot = bits.band, bits.bxor, bits.rshift, bits.bnot

local margay = Proto("margay", "Margay's wire")
local margay_trace = Proto("margay_trace", "Margay's trace")

local kinds = { [0] = "put", [1] = "get", [2] = "reply", [3] = "acknowledgment" }
local wires = { [0] = "self", [1] = "shm", [2] = "tcp", [3] = "virtual", [255] = "not known" }
local controls = { [1] = "cut", [2] = "segment", [3] = "goodbye" }
local verdicts = { [1] = "welcome", [2] = "another connection serves the pair", [3] = "no descriptor left" }
local saved = { [0] = "nothing", [1] = "header", [2] = "body", [3] = "header and body" }

local f = {
  -- The message's identity.
  source = ProtoField.uint32("margay.source", "Source rank"),
  destination = ProtoField.uint32("margay.destination", "Destination rank"),
  sequence = ProtoField.uint64("margay.sequence", "Sequence in the pair"),
  -- A trace's note.
  note = ProtoField.none("margay.note", "Note of the trace"),
  note_version = ProtoField.uint8("margay.note.version", "Version"),
  wire = ProtoField.uint8("margay.wire", "Wire", base.DEC, wires),
  has_sent = ProtoField.bool("margay.note.sent", "Its sending is in the trace", 8, nil, 1),
  has_arrived = ProtoField.bool("margay.note.arrived", "Its arrival is in the trace", 8, nil, 2),
  root = ProtoField.string("margay.message", "Part of the message"),
  way = ProtoField.uint64("margay.way_ns", "On its way (ns)"),
  -- The connection.
  hello = ProtoField.none("margay.hello", "Hello"),
  version = ProtoField.uint32("margay.hello.version", "Version"),
  size = ProtoField.uint32("margay.hello.size", "Ranks of the world (0: two jobs)"),
  source_job = ProtoField.uint64("margay.hello.source_job", "Job of the source", base.HEX),
  destination_job = ProtoField.uint64("margay.hello.destination_job", "Job of the destination", base.HEX),
  nonce = ProtoField.bytes("margay.hello.nonce", "Nonce"),
  proof = ProtoField.bytes("margay.hello.tag", "HMAC-SHA-256"),
  verdict = ProtoField.uint32("margay.hello.verdict", "Verdict", base.DEC, verdicts),
  -- The prefix before a frame on TCP.
  prefix_crc = ProtoField.uint32("margay.prefix.crc", "CRC32C of the prefix", base.HEX),
  crc = ProtoField.uint32("margay.crc", "CRC32C of head and content", base.HEX),
  content_length = ProtoField.uint32("margay.content.length", "Content length"),
  head_length = ProtoField.uint32("margay.head.length", "Head length"),
  content = ProtoField.bytes("margay.content", "Content"),
  -- The head.
  kind = ProtoField.uint8("margay.kind", "Kind", base.DEC, kinds, 0x03),
  portal = ProtoField.uint8("margay.portal", "Portal", base.DEC, nil, 0xfc),
  flags = ProtoField.uint8("margay.flags", "Flags", base.HEX),
  length = ProtoField.uint64("margay.length", "Length of the body"),
  user_data = ProtoField.bytes("margay.user_data", "User data"),
  saved = ProtoField.uint8("margay.saved", "Saved of the put", base.DEC, saved, 0x03),
  match_bits = ProtoField.uint64("margay.match_bits", "Match bits", base.HEX),
  tag = ProtoField.uint32("margay.tag", "Tag"),
  envelope_source = ProtoField.uint32("margay.envelope.source", "Source in its communicator"),
  context = ProtoField.uint32("margay.envelope.context", "Context"),
  envelope_type = ProtoField.uint32("margay.envelope.type", "Type", base.HEX),
  offset = ProtoField.uint64("margay.offset", "Offset"),
  return_match_bits = ProtoField.uint64("margay.return.match_bits", "Return match bits", base.HEX),
  return_length = ProtoField.uint64("margay.return.length", "Return length"),
  return_offset = ProtoField.uint64("margay.return.offset", "Return offset"),
  return_portal = ProtoField.uint8("margay.return.portal", "Return portal"),
  read_body = ProtoField.bool("margay.read_body", "The body is offered for reading"),
  control = ProtoField.uint8("margay.control", "Control frame", base.DEC, controls),
  argument = ProtoField.uint64("margay.argument", "Argument"),
}
local list = {}
for _, field in pairs(f) do list[#list + 1] = field end
margay.fields = list

local expert = {
  malformed = ProtoExpert.new("margay.malformed", "Malformed", expert.group.MALFORMED, expert.severity.ERROR),
}
margay.experts = { expert.malformed }

local stream_of = Field.new("tcp.stream")

-- CRC32C (Castagnoli), by a table: Lua lacks this function.
local crc_table = {}
for i = 0, 255 do
  local value = i
  for _ = 1, 8 do
    local odd = band(value, 1) == 1
    value = rshift(value, 1)
    if odd then value = bxor(value, 0x82f63b78) end
  end
  crc_table[i] = value
end

local function crc32c(tvb, offset, length)
  local crc = bnot(0)
  for i = offset, offset + length - 1 do
    crc = bxor(rshift(crc, 8), crc_table[band(bxor(crc, tvb(i, 1):uint()), 0xff)])
  end
  return bnot(crc)
end

local PREFIX, HEAD_LEAST, HEAD_MOST, CONTENT_MOST = 16, 16, 64, 262144
local HELLO_DIALER, HELLO_ACCEPTOR, PROOF, VERDICT = 72, 76, 32, 4
local NOTE = 48
local MAGIC = ByteArray.new("6d617267 61790d0a")  -- "margay\r\n"

local function is_magic(tvb, offset)
  return tvb:len() - offset >= 8 and tvb(offset, 8):bytes() == MAGIC
end

local function is_frame(tvb, offset)
  if tvb:len() - offset < PREFIX then return false end
  local content, head = tvb(offset + 8, 4):le_uint(), tvb(offset + 12, 4):le_uint()
  if head < HEAD_LEAST or head > HEAD_MOST or content > CONTENT_MOST then return false end
  return band(bxor(crc32c(tvb, offset + 4, 12), tvb(offset, 4):le_uint()), bnot(0)) == 0
end

-- The number of bytes before the next frame, or up to the end if there is none: a capture may begin inside a body.
local function bytes_to_frame(tvb, offset)
  local raw = tvb:raw(offset)
  for i = 2, #raw - PREFIX + 1 do
    local head = raw:byte(i + 12)
    if head >= HEAD_LEAST and head <= HEAD_MOST and raw:byte(i + 13) == 0 and raw:byte(i + 14) == 0 and is_frame(tvb, offset + i - 1) then
      return i - 1
    end
  end
  return #raw
end

-- The state of each connection by its number, collected in the first pass over the packets and kept for later ones.
local streams = {}
function margay.init() streams = {} end

local function stream_state()
  local number = stream_of()
  local key = number and number.value or -1
  if not streams[key] then
    streams[key] = { rank = {}, proven = {}, count = {}, sequence = {} }
  end
  return streams[key]
end

-- A position that is the same in each pass: the packet, and the offset in the buffer that contains it.
local function place_of(tvb, offset, pinfo)
  return pinfo.number .. ":" .. (tvb:offset() + offset)
end

-- The tag and the verdict end the two sides' handshakes; each occurs once, right after the hello of its side.
local function is_end_of_handshake(state, port, place)
  if not state.dialer then return false end
  return state.proven[port] == nil or state.proven[port] == place
end

-- The kind of the next unit ("hello", "proof", "verdict", "frame", "more" or "unknown"), and its length in bytes.
local function next_unit(tvb, offset, pinfo)
  local state, port, left = stream_state(), pinfo.src_port, tvb:len() - offset
  if left < 8 and tvb(offset, 4):string() == "marg" then return "more", 0 end
  if is_magic(tvb, offset) then
    if not state.dialer then state.dialer = port end
    return "hello", state.dialer == port and HELLO_DIALER or HELLO_ACCEPTOR
  end
  if is_end_of_handshake(state, port, place_of(tvb, offset, pinfo)) then
    if state.dialer == port then return "proof", PROOF end
    if verdicts[tvb(offset, 4):le_uint()] then return "verdict", VERDICT end
  end
  if left < PREFIX then return "more", 0 end
  if is_frame(tvb, offset) then
    return "frame", PREFIX + tvb(offset + 12, 4):le_uint() + tvb(offset + 8, 4):le_uint()
  end
  return "unknown", bytes_to_frame(tvb, offset)
end

local function envelope_words(tvb, tree)
  local low = tvb(8, 4):le_uint()
  local tag = tvb(12, 4):le_uint()
  tree:add_le(f.tag, tvb(12, 4))
  tree:add(f.envelope_source, tvb(10, 2), rshift(low, 16))
  tree:add(f.context, tvb(8, 2), rshift(band(low, 0xfff8), 3))
  tree:add(f.envelope_type, tvb(8, 1), band(low, 7))
  return ", tag " .. tag
end

-- Adds the optional groups after the first 16 bytes of a head, in their order. Returns them, and where they end.
local function groups(tvb, tree, flags, head_length)
  local at = 16
  local function take(bytes)
    if at + bytes > head_length then return nil end
    at = at + bytes
    return tvb(at - bytes, bytes)
  end
  local found = {}
  if band(flags, 0x01) ~= 0 then found.user_tail = take(8) end
  if band(flags, 0x02) ~= 0 then found.offset = take(8) end
  if band(flags, 0x04) ~= 0 then found.return_match_bits = take(8) end
  if band(flags, 0x08) ~= 0 then found.return_length = take(8); found.return_offset = take(8) end
  if band(flags, 0x10) ~= 0 then found.long_length = take(7) end
  if band(flags, 0x04) ~= 0 then found.return_portal = take(1) end
  for _, name in ipairs({ "offset", "return_match_bits", "return_length", "return_offset", "return_portal" }) do
    if found[name] then tree:add_le(f[name], found[name]) end
  end
  if found.user_tail then tree:add(f.user_data, found.user_tail):append_text(" (bytes 4 to 11)") end
  return found, at
end

-- Adds the head at the beginning of `tvb`. Returns a description, and whether it belongs to a message.
local function dissect_head(tvb, tree, head_length)
  local flags = tvb(2, 1):uint()
  if band(flags, 0x40) ~= 0 then
    tree:add(f.control, tvb(1, 1))
    tree:add(f.flags, tvb(2, 1))
    tree:add_le(f.argument, tvb(8, 8))
    return string.format("%s %s", controls[tvb(1, 1):uint()] or "unknown control frame", tvb(8, 8):le_uint64()), false
  end
  local kind, portal = band(tvb(1, 1):uint(), 3), rshift(tvb(1, 1):uint(), 2)
  tree:add(f.kind, tvb(1, 1))
  tree:add(f.portal, tvb(1, 1))
  tree:add(f.flags, tvb(2, 1))
  local found, at = groups(tvb, tree, flags, head_length)
  local length = UInt64(tvb(3, 1):uint())
  if found.long_length then length = length:bor(found.long_length:le_uint64():lshift(8)) end
  tree:add(f.length, found.long_length or tvb(3, 1), length)
  tree:add(f.user_data, tvb(4, 4)):append_text(" (bytes 0 to 3)")
  if kind == 3 then tree:add(f.saved, tvb(4, 1)) end
  if band(flags, 0x20) ~= 0 then tree:add(f.read_body, true) end
  local bits_tree = tree:add_le(f.match_bits, tvb(8, 8))
  local words = string.format("%s, portal %d, %s bytes", kinds[kind], portal, kind == 1 and found.return_length and
                              tostring(found.return_length:le_uint64()) or tostring(length))
  -- Portal 0 is that of MPI's receives, whose match bits are an envelope, except those of answers.
  if kind == 0 and portal == 0 and band(tvb(8, 1):uint(), 2) == 0 then words = words .. envelope_words(tvb, bits_tree) end
  if at ~= head_length then
    tree:add_proto_expert_info(expert.malformed, "the head's flags announce " .. at .. " bytes, and it has " .. head_length)
  end
  return words, true
end

local function tell(pinfo, words)
  if tostring(pinfo.cols.protocol) ~= "MARGAY" then
    pinfo.cols.protocol:set("MARGAY")
    pinfo.cols.info:set(words)
  else
    pinfo.cols.info:append("; " .. words)
  end
end

local function add_ranks(tree, source, destination)
  if source then tree:add(f.source, source):set_generated() end
  if destination then tree:add(f.destination, destination):set_generated() end
end

local function dissect_hello(tvb, pinfo, tree, state)
  local is_dialer = tvb:len() == HELLO_DIALER
  local hello = tree:add(f.hello, tvb())
  hello:add_le(f.version, tvb(8, 4))
  if is_dialer then
    state.rank[pinfo.src_port] = tvb(20, 4):le_uint()
    state.rank[pinfo.dst_port] = tvb(32, 4):le_uint()
    hello:add_le(f.source_job, tvb(12, 8))
    hello:add_le(f.source, tvb(20, 4))
    hello:add_le(f.destination_job, tvb(24, 8))
    hello:add_le(f.destination, tvb(32, 4))
    hello:add_le(f.size, tvb(36, 4))
    hello:add(f.nonce, tvb(40, 32))
    return string.format("hello of rank %d to rank %d", tvb(20, 4):le_uint(), tvb(32, 4):le_uint())
  end
  hello:add(f.nonce, tvb(12, 32))
  hello:add(f.proof, tvb(44, 32))
  return "hello back, with proof"
end

local function dissect_frame(tvb, pinfo, tree, state)
  local head_length, content_length = tvb(12, 4):le_uint(), tvb(8, 4):le_uint()
  local source, destination = state.rank[pinfo.src_port], state.rank[pinfo.dst_port]
  tree:add_le(f.prefix_crc, tvb(0, 4))
  tree:add_le(f.crc, tvb(4, 4))
  tree:add_le(f.content_length, tvb(8, 4))
  tree:add_le(f.head_length, tvb(12, 4))
  add_ranks(tree, source, destination)
  local words, is_message = dissect_head(tvb(PREFIX, head_length):tvb(), tree, head_length)
  if is_message and source then
    -- Messages of a pair are numbered in the order of sending, so they can be counted if the capture has the hello.
    local place = place_of(tvb, 0, pinfo)
    if not state.sequence[place] then
      state.count[pinfo.src_port] = (state.count[pinfo.src_port] or 0) + 1
      state.sequence[place] = state.count[pinfo.src_port]
    end
    tree:add(f.sequence, UInt64(state.sequence[place])):set_generated()
    words = string.format("%d>%d #%d %s", source, destination, state.sequence[place], words)
  end
  if content_length > 0 then tree:add(f.content, tvb(PREFIX + head_length, content_length)) end
  return words
end

local function dissect_unit(tvb, pinfo, tree)
  local what = next_unit(tvb, 0, pinfo)
  local state, port = stream_state(), pinfo.src_port
  local subtree = tree:add(margay, tvb())
  local words = what
  if what == "hello" then
    words = dissect_hello(tvb, pinfo, subtree, state)
  elseif what == "proof" then
    state.proven[port] = place_of(tvb, 0, pinfo)
    subtree:add(f.proof, tvb(0, PROOF))
  elseif what == "verdict" then
    state.proven[port] = place_of(tvb, 0, pinfo)
    subtree:add_le(f.verdict, tvb(0, VERDICT))
    words = verdicts[tvb(0, VERDICT):le_uint()]
  elseif what == "frame" then
    words = dissect_frame(tvb, pinfo, subtree, state)
  elseif state.dialer then
    words = "no frame begins here"
    subtree:add_proto_expert_info(expert.malformed, words)
  else
    words = "the middle of a body"
  end
  subtree:append_text(": " .. words)
  tell(pinfo, words)
  return tvb:len()
end

local function unit_length(tvb, pinfo, offset)
  local _, length = next_unit(tvb, offset, pinfo)
  return length
end

function margay.dissector(tvb, pinfo, tree)
  dissect_tcp_pdus(tvb, tree, VERDICT, unit_length, dissect_unit)
  return tvb:len()
end

function margay_trace.dissector(tvb, pinfo, tree)
  if tvb:len() < NOTE + HEAD_LEAST or tvb(0, 1):uint() ~= 1 or tvb(3, 1):uint() ~= NOTE then return 0 end
  local subtree = tree:add(margay, tvb())
  local note = subtree:add(f.note, tvb(0, NOTE))
  note:add(f.note_version, tvb(0, 1))
  note:add(f.wire, tvb(1, 1))
  note:add(f.has_sent, tvb(2, 1))
  note:add(f.has_arrived, tvb(2, 1))
  note:add_le(f.source, tvb(4, 4))
  note:add_le(f.destination, tvb(8, 4))
  note:add_le(f.sequence, tvb(24, 8))
  note:add(f.root, tvb(12, 28), string.format("%d:%d:%s", tvb(12, 4):le_uint(), tvb(16, 4):le_uint(),
                                              tostring(tvb(32, 8):le_uint64())))
  if band(tvb(2, 1):uint(), 3) == 3 then note:add_le(f.way, tvb(40, 8)) end
  local head = tvb(NOTE):tvb()
  local words = string.format("%d>%d #%s %s", tvb(4, 4):le_uint(), tvb(8, 4):le_uint(), tostring(tvb(24, 8):le_uint64()),
                              dissect_head(head, subtree, head:len()))
  subtree:append_text(": " .. words)
  pinfo.cols.src:set("rank " .. tvb(4, 4):le_uint())
  pinfo.cols.dst:set("rank " .. tvb(8, 4):le_uint())
  tell(pinfo, words)
  return tvb:len()
end

margay:register_heuristic("tcp", function(tvb, pinfo, tree)
  if not is_magic(tvb, 0) and not is_frame(tvb, 0) then return false end
  pinfo.conversation = margay
  margay.dissector(tvb, pinfo, tree)
  return true
end)
DissectorTable.get("tcp.port"):add_for_decode_as(margay)
DissectorTable.get("wtap_encap"):add((wtap_encaps or wtap).USER0, margay_trace)
